"""The pages: ``joining`` and ``items`` for judges, ``accounts`` and ``organise`` for organisers.

Views read a request, call a service, and render a template.
"""

"""The pages: ``joining`` lets judges in, ``items`` asks them, ``organise`` is for organisers.

Views read what a browser sent, call a service, and draw a template; rules stand in the services.
"""

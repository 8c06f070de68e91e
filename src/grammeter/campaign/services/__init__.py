"""All rules of campaigns; pages and commands only call these.

They raise the errors of :mod:`grammeter.core.errors` for mistakes of users, and Django's
``PermissionDenied`` for actions that are not allowed.
"""

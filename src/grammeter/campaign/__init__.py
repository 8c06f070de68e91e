"""The annotation server: people rank corrections in a browser, on one machine or for a team.

``conf`` says how Django runs, ``models`` what is stored, ``services`` holds every rule; pages and
commands only call services. Importing this package loads nothing of Django.
"""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)

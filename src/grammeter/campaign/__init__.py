"""The annotation server: people rank corrections in a browser, on one machine or for a team.

``conf`` has the settings of Django, ``models`` the tables, ``services`` all rules; pages and
commands only call services. Importing this package does not load Django.
"""

from grammeter.core import door

__getattr__, __dir__ = door(__name__)

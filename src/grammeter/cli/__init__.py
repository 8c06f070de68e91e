"""The shell: one file a verb; it parses, calls :mod:`grammeter.api` and prints a report."""

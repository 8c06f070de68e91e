"""The shell: one file a verb; it parses, calls the library and prints a report."""

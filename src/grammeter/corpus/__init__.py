"""Files to values and back: one module a format, reader and writer side by side."""

"""The package's version, the last word of every signature."""

__version__ = "0.1.0"

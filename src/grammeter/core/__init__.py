"""Values: what every other room speaks in. Standard library and numpy; reads no file."""

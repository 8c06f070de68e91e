"""Django's SQLite, with a queue for its writers; ``base`` is where Django looks for it."""

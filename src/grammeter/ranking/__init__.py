"""Judgments to a ranking of systems, and how far to trust it."""

"""Scores, judgments and sentences gathered into one page."""

"""Scores and judgments to an answer to the question how good a metric is."""

"""Scores and judgments to an answer: how good is a metric?"""

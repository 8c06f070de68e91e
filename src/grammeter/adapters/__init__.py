"""Metrics in the shape that other people's loops expect."""

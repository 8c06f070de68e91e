"""Fit learned metrics to a domain: IMPARA from parallel data alone, SOME from human scores."""

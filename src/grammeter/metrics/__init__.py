"""Metrics, one file each; they meet only through :mod:`~grammeter.metrics.base`."""

"""Metrics over more rows than memory holds: streamed, by several processes or machines, resumed."""

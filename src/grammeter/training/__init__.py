"""Fit learned metrics to a domain: IMPARA from parallel data alone, SOME from human scores."""

from grammeter.core import door

_get, __dir__ = door(__name__)


def __getattr__(name: str) -> object:
    if name in ("train_impara", "train_some", "train_cross_domain"):  # as in version 0.1.0
        import warnings
        from importlib import import_module

        warnings.warn(f"use grammeter.{name}", DeprecationWarning, stacklevel=2)
        return getattr(import_module("grammeter"), name)
    return _get(name)

"""Devices by name, and whether there is a GPU; torch, which takes seconds to load, is not asked."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path
from typing import Literal

from grammeter.core import UsageError

Gpu = Literal["none", "no torch", "ready"]
"""``no torch``: a GPU, but a build of torch that cannot use it; ``ready``: likely usable."""

_NAME = re.compile(r"cpu|cuda(:\d+)?|mps")
_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"), Path("/dev/dxg"))


def check_device(name: str) -> None:
    """Raise :class:`UsageError` for what is no device's name, wherever it is used."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"unknown device {name!r}", fix="Use cpu, cuda, cuda:1 (the second one) or mps."
        )


def gpu() -> Gpu:
    """Look for a GPU of NVIDIA by the files of its driver; one that is hidden is none."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1")
    if hidden or not any(path.exists() for path in _DRIVER):
        return "none"
    try:
        build = metadata.version("torch").partition("+")[2]
    except metadata.PackageNotFoundError:
        return "no torch"
    return "no torch" if build == "cpu" else "ready"

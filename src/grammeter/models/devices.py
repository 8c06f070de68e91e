"""Names of devices, and whether there is a GPU, without loading torch, which takes seconds."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path
from typing import Literal

from grammeter.core import UsageError

Gpu = Literal["none", "no torch", "ready"]
"""``no torch``: a GPU, but no build of torch that can use it; ``ready``: likely usable."""

_NAME = re.compile(r"cpu|cuda(:\d+)?|mps")
_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"), Path("/dev/dxg"))


def check_device(name: str) -> None:
    """Raise :class:`UsageError` for a text that is not the name of a device."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"unknown device {name!r}", fix="Use cpu, cuda, cuda:1 (the second one) or mps."
        )


def gpu() -> Gpu:
    """Look for an NVIDIA GPU by the files of its driver; a hidden one does not count."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1")
    if hidden or not any(path.exists() for path in _DRIVER):
        return "none"
    try:
        build = metadata.version("torch").partition("+")[2]
    except metadata.PackageNotFoundError:
        return "no torch"
    return "no torch" if build == "cpu" else "ready"

"""The command line with one data set that is made up here, from ``archive.zip``."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from random import Random

FILES = {f"part-{number}.txt": Random(number).randbytes(200_000) for number in range(12)}


def archive() -> bytes:
    """Return an archive that holds the data set."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in FILES.items():
            packed.writestr(f"set/{name}", data)
    return out.getvalue()


def main() -> None:
    """Run the command line."""
    from grammeter.cli.main import main
    from grammeter.formats import datasets

    files = tuple(
        datasets.DataFile(
            path=f"{name}.gz", sha256=hashlib.sha256(data).hexdigest(), size=len(data),
            what="text", origin="https://a.example", url=None, optional=False,
        )
        for name, data in FILES.items()
    )  # fmt: skip
    made = datasets.Dataset(
        name="made", title="made", page="https://a.example", licence="none", citation="none",
        files=files,
    )  # fmt: skip
    datasets._catalogue = lambda: {"made": made}  # type: ignore[assignment]
    sys.exit(main())

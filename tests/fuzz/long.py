"""Damage inputs for so many seconds: ``python tests/fuzz/long.py --seconds 600``.

Prints how many inputs each reader and verb was tried on, and every failure; exits with 1 if there
is one. ``--seed`` starts another series, ``--only`` names readers and verbs; ``--hostile`` first
gives each reader all that is large, deep or no ordinary file.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import hostile, readers, verbs
from fuzz.trial import Failure

BATCH = {"reader": 200, "verb": 5}
"""Inputs at a time."""

Target = tuple[str, Callable[[int, int], list[Failure]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[*readers.READERS, *verbs.LINES])
    parser.add_argument("--hostile", action="store_true")
    args = parser.parse_args()
    inputs, failed = Counter[str](), Counter[str]()
    with TemporaryDirectory() as name:
        targets = [*_readers(args.only, Path(name)), *_verbs(args.only)]
        for reader in hostile.FILES if args.hostile else ():
            if reader in args.only:
                inputs[f"hostile {reader}"] = len(hostile.HUGE) + len(hostile.KINDS)
                for failure in _hostile(reader, Path(name)):
                    failed[f"hostile {reader}"] += 1
                    print(failure, flush=True)  # noqa: T201
        end = time.monotonic() + args.seconds
        for turn in itertools.count(args.seed * 1_000_000):
            for target, call in targets:
                if time.monotonic() > end:
                    return _told(inputs, failed)
                kind = target.partition(" ")[0]
                for failure in call(BATCH[kind], turn):
                    failed[target] += 1
                    print(failure, flush=True)  # noqa: T201
                inputs[target] += BATCH[kind]
    return 0


def _hostile(reader: str, folder: Path) -> list[Failure]:
    return hostile.huge(reader, folder) + hostile.odd(reader, folder)


def _readers(only: list[str], folder: Path) -> list[Target]:
    def call(name: str) -> Target:
        return f"reader {name}", lambda count, seed: readers.tried(name, count, folder, seed=seed)

    return [call(name) for name in readers.READERS if name in only]


def _verbs(only: list[str]) -> list[Target]:
    def call(name: str) -> Target:
        return f"verb {name}", lambda count, seed: verbs.tried(name, count, seed=seed)

    return [call(name) for name in verbs.LINES if name in only]


def _told(inputs: Counter[str], failed: Counter[str]) -> int:
    totals = {**inputs, "all": inputs.total()}
    for target, count in totals.items():
        bad = failed.total() if target == "all" else failed[target]
        print(f"{target:28} {count:8} inputs {bad:6} failures", flush=True)  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

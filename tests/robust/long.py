"""Stop verbs at random moments for so many seconds: ``python tests/robust/long.py --seconds 300``.

Prints how often each verb was stopped by which signal, how often it had not finished, and every
fault; exits with 1 if there is one. ``--seed`` starts another series, ``--only`` names cases.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

import made_models
from robust.places import make
from robust.stops import CASES, SIGNALS, Trial
from scripted_endpoint import ScriptedEndpoint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--signals", nargs="+", choices=list(SIGNALS), default=list(SIGNALS))
    args = parser.parse_args()
    tried, inside, failed = Counter[str](), Counter[str](), Counter[str]()
    with TemporaryDirectory() as name, ScriptedEndpoint(delay=0.02) as server:
        trials = _trials(args.only, Path(name), server.url)
        end = time.monotonic() + args.seconds
        for turn in itertools.count():
            for case, trial in trials.items():
                if time.monotonic() > end:
                    return _told(trials, tried, inside, failed)
                signal = args.signals[turn % len(args.signals)]
                told = trial.stopped(signal, Random(f"{case}-{args.seed}-{turn}"))
                tried[f"{case} {signal}"] += 1
                inside[f"{case} {signal}"] += told.reached
                for fault in told.faults:
                    failed[case] += 1
                    print(f"{case} [{args.seed}-{turn} {signal}]: {fault}", flush=True)  # noqa: T201
    return 0


def _trials(only: list[str], folder: Path, url: str) -> dict[str, Trial]:
    wanted = {need for name in only for need in CASES[name].needs}
    template = make(folder / "template", sorted(wanted - {"encoder"}))
    if "encoder" in wanted:
        made_models.encoder(template / "encoder")
    trials: dict[str, Trial] = {}
    for name in only:
        room = folder / name.replace(" ", "-")
        room.mkdir()
        trials[name] = Trial(CASES[name], template, room, url)
    return trials


def _told(trials: dict[str, Trial], *counts: Counter[str]) -> int:
    tried, inside, failed = counts
    head = "".join(f"{name:>16}" for name in SIGNALS)
    print(f"{'case':18} seconds{head}  faults   (stopped / of so many)")  # noqa: T201
    for name, trial in trials.items():
        keys = [f"{name} {signal}" for signal in SIGNALS]
        cells = "".join(f"{f'{inside[key]} / {tried[key]}':>16}" for key in keys)
        print(f"{name:18} {trial.whole.seconds:7.1f}{cells}  {failed[name]:6}")  # noqa: T201
    total = "".join(
        f"{f'{_sum(inside, signal)} / {_sum(tried, signal)}':>16}" for signal in SIGNALS
    )
    print(f"{'all':18} {'':7}{total}  {failed.total():6}")  # noqa: T201
    return 1 if failed else 0


def _sum(counts: Counter[str], signal: str) -> int:
    return sum(count for key, count in counts.items() if key.endswith(signal))


if __name__ == "__main__":
    sys.exit(main())

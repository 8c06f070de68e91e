"""``grammeter train``: fit learned metrics."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grammeter.cli.flags import add_actions, add_options, options
from grammeter.cli.output import FORMATS, add_output, notice, print_json, print_result, progress

if TYPE_CHECKING:
    pass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be trained, and the arguments; nothing heavy is imported for it."""
    add_actions(parser, {
        "impara": (
            "IMPARA's quality estimator, from parallel data alone", _add_impara, _impara,
        ),
        "some": ("SOME's three regressors, from human scores", _add_some, _some),
        "cross-domain": (
            "IMPARA trained on each of several corpora, tested on each",
            _add_cross_domain, _cross_domain,
        ),
        "impacts": (
            "which error types, and which edits, have the greatest impact", _add_impacts, _impacts,
        ),
    })  # fmt: skip


# --- arguments -----------------------------------------------------------------------------


def _add_impara(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "example:\n"
        "  grammeter train impara --parallel train.m2 --encoder bert-base-cased -o my-impara\n"
        '  grammeter score -s src.txt -m "impara(model=my-impara)" --hyps out/*'
    )
    _add_parallel(parser, "verbs.train_impara")
    _add_preference(parser, "verbs.train_impara")
    _add_run(parser, "verbs.train_impara")


def _add_some(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "example:\n"
        "  grammeter train some --scores tmu-gfm-dataset.csv --encoder bert-base-cased -o my-some\n"
        '  grammeter score -s src.txt -m "some(model=my-some)" --hyps out/*'
    )
    add_options(parser, "verbs.train_some", {
        "scores": "a table with the columns source, output and ave_g, ave_f, ave_m (or"
        " grammaticality, fluency, meaning)",
        "criteria": "which regressors",
    }, "data", criteria={"metavar": "NAME"})  # fmt: skip
    _add_fitting(parser, "verbs.train_some")
    _add_run(parser, "verbs.train_some")


def _add_cross_domain(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "example:\n"
        "  grammeter train cross-domain --parallel conll13=conll13.m2 cweb=cweb.m2 \\\n"
        "    jfleg=dev.src:dev.ref0 --encoder bert-base-cased --seeds 1 2 3 -o crossed\n"
        "finished models are taken as they are: the same command goes on after an interruption"
    )
    _add_parallel(parser, "verbs.train_cross_domain")
    _add_preference(parser, "verbs.train_cross_domain", seed="seeds")
    folder = {"metavar": "DIR"}
    add_options(parser, "verbs.train_cross_domain", "output", "output", output=folder)
    add_output(parser, formats=FORMATS, file=None)


def _add_impacts(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "example:\n"
        "  grammeter train impacts --parallel train.m2 --encoder bert-base-cased --show 10"
    )
    _add_parallel(parser, "verbs.train_impacts")
    add_options(parser, "verbs.train_impacts", "encoder")
    _add_running(parser)
    parser.add_argument(
        "--show",
        type=int,
        default=5,
        metavar="N",
        help="show so many edits with the highest and lowest impacts; default: %(default)s",
    )
    add_output(parser, formats=FORMATS, file=None)


def _add_parallel(parser: argparse.ArgumentParser, verb: str) -> None:
    group = parser.add_argument_group("data")
    group.add_argument(
        "--parallel",
        nargs="+",
        required=True,
        metavar="NAME=DATA" if verb == "verbs.train_cross_domain" else "DATA",
        help="an M2 file, source.txt:reference.txt, or a table (tsv, csv, jsonl, parquet)",
    )
    add_options(group, verb, "source_column target_column pipeline lenient")


def _add_preference(parser: argparse.ArgumentParser, verb: str, seed: str = "seed") -> None:
    add_options(parser, verb, "pairs parallel_only loss", "pairs")
    _add_fitting(parser, verb, seed)


def _add_fitting(parser: argparse.ArgumentParser, verb: str, seed: str = "seed") -> None:
    """Declare how a model is fitted, and where; ``seed``: the name of one seed or several."""
    add_options(parser, verb, "encoder")
    add_options(parser, verb, {
        "epochs": "the best of so many is kept; 0 writes the untrained head",
        "batch_size": "",
        "learning_rate": "of AdamW",
        "decay": "of the learning rate",
        "warmup": "share of all steps in which the learning rate rises",
        "dtype": "",
        seed: "",
    }, "fitting")  # fmt: skip
    _add_running(parser)


def _add_running(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "models.Runtime", {
        "device": "cpu, cuda, cuda:1 or mps",
        "cache_dir": "keep measured impacts here for other seeds",
        "download": "fetch the encoder from its hub if it is not here",
    }, "running")  # fmt: skip


def _add_run(parser: argparse.ArgumentParser, verb: str) -> None:
    add_options(parser, verb, "output resume", "output", output={"metavar": "DIR"})
    add_output(parser, formats=("table", "json"), file=None)


# --- work ----------------------------------------------------------------------------------


def _impara(args: argparse.Namespace) -> None:
    from grammeter.training import card_page
    from grammeter.verbs import train_impara

    with _at_work(args):
        card = train_impara(**options(args, train_impara))
    if args.format == "json":
        print_json(card)
    else:
        sys.stdout.write(card_page(card))


def _some(args: argparse.Namespace) -> None:
    from grammeter.training import card_page
    from grammeter.verbs import train_some

    with _at_work(args):
        cards = train_some(**options(args, train_some))
    if args.format == "json":
        print_json({"kind": "training-cards", "cards": cards})
    else:
        sys.stdout.write("\n".join(card_page(card) for card in cards.values()))


def _cross_domain(args: argparse.Namespace) -> None:
    from grammeter.verbs import train_cross_domain

    with _at_work(args):
        crossed = train_cross_domain(
            **options(args, train_cross_domain, corpora=_corpora(args.parallel))
        )
    print_result(args, crossed)


def _corpora(spelled: list[str]) -> dict[str, list[str]]:
    """Return data by name; a name that comes again adds to its corpus."""
    from grammeter.core import UsageError

    corpora: dict[str, list[str]] = {}
    for text in spelled:
        name, equals, data = text.partition("=")
        if not (name and equals and data):
            raise UsageError(f"--parallel {text}", fix="Write NAME=DATA: conll13=conll13.m2")
        corpora.setdefault(name, []).append(data)
    return corpora


def _impacts(args: argparse.Namespace) -> None:
    from grammeter.verbs import train_impacts

    with _at_work(args):
        impacts = train_impacts(**options(args, train_impacts))
    print_result(args, impacts, show=args.show)


@contextmanager
def _at_work(args: argparse.Namespace) -> Generator[None]:
    """Show progress, run models as the arguments say; after Ctrl-C, say how to go on."""
    from grammeter.core import expanded
    from grammeter.models import Runtime, using
    from grammeter.training import listening

    folder = expanded(args.cache_dir) if args.cache_dir else None
    runtime = Runtime(device=args.device, download=args.download, cache_dir=folder)
    with progress(args) as shown:

        def tell(text: str) -> None:
            shown.clear()
            notice(args, text)

        try:
            with using(runtime), listening(tell):
                yield
        except KeyboardInterrupt:
            shown.clear()
            if hasattr(args, "output"):
                notice(args, f"{args.output} keeps what is done; to go on: {_again(args)}")
            raise


def _again(args: argparse.Namespace) -> str:
    """Return the command that goes on where this one stopped."""
    flag = ["--resume"] if getattr(args, "resume", None) is False else []
    if sys.argv[1:2] != ["train"]:  # called from Python
        return " ".join(["the same command", *(["with --resume"] if flag else [])])
    return shlex.join(["grammeter", *sys.argv[1:], *flag])

"""IMPARA (Maeda et al. 2022) held against MAEGE: its Tables 3, 4 and 5.

Table 4 trains on nine tenths of a corpus and tests on the tenth. How the paper drew it is not
said: here a seeded shuffle of the sentences does. A sentence with one chain drops out of MAEGE, so
that a corpus with one annotator needs more than one order of his edits: five are drawn. What is
trained stays in the user's cache folder, by the encoder's hash: an interrupted training goes on
where it stopped, and a finished one is taken as it is.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from grammeter import core, formats, models, training, verbs
from grammeter.core import MissingResourceError
from grammeter.formats import M2Block, M2File, TextReader, dataset_path, read_m2
from grammeter.meta import Maege, MaegeDesign, maege
from grammeter.metrics import metric
from grammeter.papers.cells import Made, Ours, read_paper
from grammeter.papers.materials import ChosenModel, Materials, by_name, in_columns, once

ROWS: Mapping[str, tuple[str, str]] = read_paper("maeda2022")["recipe"]["metrics"]
"""Metrics: the model, as ``--models`` names it, and the spelling."""

CORPUS = ("corpus Pea", "corpus Spe")
MAEGE = (*CORPUS, "sentence Pea", "sentence Spe", "chain Ken")
PERCENT = 100
SEED, CHAINS = 1, 5


def spelled(materials: Materials, row: str) -> tuple[str, Ours]:
    """Return the spelling of a metric, and a figure without value that says by which model."""
    name, spelling = ROWS[row]
    chosen = trained(materials, name) if name != "gpt2" else materials.model(name, encoder=False)
    text = spelling.format(model=chosen.spelling)
    return text, Ours(math.nan, f"by {text}", stands_in=chosen.stands_in)


def maege_cells(result: Maege, made: Ours) -> dict[str, Ours]:
    """Return the five coefficients of the only metric; a tie of the metric is half right."""
    (of,) = result.values()
    chain = of.chain
    wrong, pairs = 2 * chain.discordant, chain.concordant + chain.discordant
    of_ties = {"if they are left out": pairs, "if they are right": pairs + chain.ties}
    rules = [f"{1 - wrong / n:.4f} {how}" for how, n in of_ties.items() if n]
    ties = f"{PERCENT * chain.tie_share:.2f} % ties, half right; tau {', '.join(rules)}"
    notes = {level: f"{made.note}; {why}" for level, why in of.reasons.items()}
    notes |= {"chain": notes.get("chain", f"{made.note}; {ties}")}
    return {
        column: replace(made, value=value, note=notes.get(level, made.note))
        for column, (level, _, value, _) in zip(MAEGE, of.rows(), strict=True)
    }


@once
def on_alternatives(materials: Materials, row: str) -> tuple[Maege, Ours]:
    """Return MAEGE of a metric on CoNLL-2014 with alternatives."""
    corpus = materials.conll14_alternatives
    spelling, made = spelled(materials, row)
    metrics = {spelling: metric(spelling)}
    return maege(corpus.sources, corpus.gold, metrics, design=MaegeDesign(seed=SEED)), made


def _table3(materials: Materials) -> Made:
    rows = {row: lambda of=row: maege_cells(*on_alternatives(materials, of)) for row in THREE}
    return in_columns(rows, MAEGE)


THREE = ("Scribendi Score", "SOME", "IMPARA")


# --- four corpora --------------------------------------------------------------------------
def _cweb(materials: Materials) -> Sequence[M2Block]:
    names = [f"m2/CWEB-{part}.{use}.m2.gz" for part in "GS" for use in ("dev", "test")]
    return [block for name in names for block in read_m2(dataset_path("cweb", name)).blocks]


def _jfleg(materials: Materials) -> Sequence[M2Block]:
    def lines(kind: str) -> list[str]:
        files = (dataset_path("jfleg", f"{part}/{part}.{kind}") for part in ("dev", "test"))
        return [line for file in files for line in TextReader().sentences(file)]

    return verbs.edits_extract(lines("src"), [lines(f"ref{n}") for n in range(4)]).blocks


def _fce(materials: Materials) -> Sequence[M2Block]:
    path = (materials.settings.models or {}).get("fce")
    if path is None:
        fault = "needs FCE, a licensed corpus"
        raise MissingResourceError(fault, fix="--models fce=FILE.m2 --long, as BEA-2019 has it")
    return read_m2(path).blocks


CORPORA: Mapping[str, Callable[[Materials], Sequence[M2Block]]] = {
    "CoNLL-2013": lambda _: read_m2(dataset_path("conll13_test", CONLL13)).blocks,
    "CWEB": _cweb,
    "JFLEG": _jfleg,
    "FCE": _fce,
}


@once
def _parts(materials: Materials, corpus: str) -> tuple[Sequence[M2Block], Sequence[M2Block]]:
    """Return the parts of a corpus for training and for test."""
    train, test = verbs.edits_split(M2File(tuple(CORPORA[corpus](materials))), seed=SEED)
    return train.blocks, test.blocks


@once
def _model(materials: Materials, corpus: str) -> ChosenModel:
    if not will_train(materials):
        file = " (fce=FILE.m2 among the models)" if corpus == "FCE" else ""
        fault = f"needs IMPARA, trained on nine tenths of {corpus}"
        raise MissingResourceError(fault, fix=f"--models --long, which trains it{file}")
    blocks, _ = _parts(materials, corpus)
    encoder, folder = _place(materials, f"impara-{corpus}")
    data = folder.with_suffix(".m2")
    formats.write_text(data, formats.format_m2(blocks))
    verbs.train_impara([data], folder, encoder=encoder.spelling, resume=True)
    return ChosenModel(str(folder), encoder.stands_in)


def _tested(materials: Materials, corpus: str, spelling: str, made: Ours) -> dict[str, Ours]:
    _, test = _parts(materials, corpus)
    chains = 1 if any(len(block.gold) > 1 for block in test) else CHAINS
    design = MaegeDesign(seed=SEED, max_orders=chains)
    sources, gold = [block.source for block in test], [block.gold for block in test]
    result = maege(sources, gold, {spelling: metric(spelling)}, design=design)
    note = f"{made.note}; {len(test)} sentences, orders of an annotator's edits: {chains}"
    return maege_cells(result, replace(made, note=note))


@once
def _by_impara(materials: Materials, tested: str, corpus: str) -> dict[str, Ours]:
    _parts(materials, tested)
    chosen = _model(materials, corpus)
    spelling = f"impara(model={chosen.spelling})"
    made = Ours(math.nan, f"trained on {corpus}", stands_in=chosen.stands_in)
    return _tested(materials, tested, spelling, made)


def _table4(materials: Materials) -> Made:
    rows = {
        f"eval {tested}, train {corpus}": partial(_by_impara, materials, tested, corpus)
        for tested, corpus in product(CORPORA, repeat=2)
    }
    return in_columns(rows, MAEGE)


def _table5(materials: Materials) -> Made:
    def made(corpus: str, row: str) -> dict[str, Ours]:
        if row == "IMPARA":
            return _by_impara(materials, corpus, corpus)
        return _tested(materials, corpus, *spelled(materials, row))

    rows = {
        f"{corpus}, {row.removesuffix(' Score')}": partial(made, corpus, row)
        for corpus, row in product(CORPORA, THREE)
    }
    return in_columns(rows, MAEGE)


TABLES = by_name(_table3, _table4, _table5)


BERT = "bert-base-cased"
CONLL13 = "official_2013-preprocessed.m2"

COMMANDS: Mapping[str, str] = read_paper("maeda2022")["recipe"]["commands"]
"""Commands that train them, by the name that the user gives the folder."""


def trained(materials: Materials, name: str) -> ChosenModel:
    """Return the user's folder of a trained model, or train it if models and long work are wanted.

    Raises :class:`MissingResourceError` if there is none, and no encoder or folder for it.
    """
    if path := (materials.settings.models or {}).get(name):
        return ChosenModel(str(path), _stands_in(materials, path))
    if not will_train(materials):
        fix = f"grammeter train {COMMANDS[name]} --encoder {BERT} -o FOLDER, then --models"
        fix += f" {name}=FOLDER; or --models --long, which trains it"
        raise core.MissingResourceError(f"needs {name}, trained from {BERT}", fix=fix)
    encoder, folder = _place(materials, name)
    if name == "some":
        train = partial(verbs.train_some, formats.dataset_path("tmu_gfm", "tmu-gfm-dataset.csv"))
    else:
        data = [formats.dataset_path("conll13_test", CONLL13)]
        train = partial(verbs.train_impara, data, parallel_only=name != "impara")
    train(folder, encoder=encoder.spelling, resume=True)
    return ChosenModel(str(folder), encoder.stands_in)


def will_train(materials: Materials) -> bool:
    """Whether models that nobody trained are trained here."""
    return materials.settings.models is not None and materials.settings.long


def _place(materials: Materials, name: str) -> tuple[ChosenModel, Path]:
    encoder = materials.model(BERT)
    base = models.current().cache_dir or core.cache_folder()
    if base is None:
        fix = "Name a folder for it: --cache-dir."
        raise core.MissingResourceError("a trained model has no place without a cache", fix=fix)
    folder = Path(base) / "reproduce" / models.find_model(encoder.spelling).hash / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    training.tell(f"{name}, trained from {encoder.spelling}: {folder}")
    return encoder, folder


def _stands_in(materials: Materials, folder: Path) -> str | None:
    card = models.read_card(folder) or models.read_card(folder / "grammaticality")
    encoder = Path(card["encoder"]["name"]) if card else None
    named = (materials.settings.models or {}).get(BERT)
    same = encoder is None or encoder.name == BERT or (named and encoder == named.resolve())
    return None if same else BERT

"""Every reader: a file of some name, and what is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from fuzz import samples
from fuzz.kept import KEPT, PAIR, alone
from fuzz.mutations import mutate, packed
from fuzz.trial import Failure, Reader, Seeds, trial
from grammeter.core import Signature, UsageError
from grammeter.core.spelling import parse, spell
from grammeter.engine.job import parse_keep
from grammeter.formats import (
    EditJudgments,
    find_shards,
    format_m2,
    get_dataset,
    items_text,
    lay_on,
    odd_ends,
    parse_block,
    parse_sgml,
    read_blocks,
    read_corpus,
    read_edit_values,
    read_items,
    read_m2,
    read_parallel,
    read_ratings,
    read_records,
    read_robustness,
    read_scores,
    read_text,
    write_records,
)
from grammeter.formats.judgments import (
    format_judgments,
    parse_judgments,
    read_judgments,
    read_judgments_of,
)
from grammeter.formats.ratings import Ratings
from grammeter.formats.scores import read_human, read_score_file
from grammeter.formats.tables import read_columns
from grammeter.formats.text import read_lines
from grammeter.llm.cost import read_prices
from grammeter.llm.reply import read as read_reply
from grammeter.metrics import metric
from grammeter.training.pairs import PAIRS, pairs_of
from grammeter.verbs import agree, rank
from grammeter.verbs._read import read


def tried(name: str, inputs: int, folder: Path, *, seed: int = 1) -> list[Failure]:
    """Try a reader on so many damaged files."""
    seeds = READERS[name].seeds()
    failures: list[Failure] = []
    for number in range(inputs):
        random = Random(f"{name}-{seed}-{number}")
        data = mutate(random.choice(seeds), random)
        data = packed(data, random) if random.random() < 0.05 else data
        failures += attempt(name, data, folder, f"{seed}-{number}")
    return failures


def attempt(name: str, data: bytes, folder: Path, seed: str = "") -> list[Failure]:
    """Try a reader on one file."""
    reader = READERS[name]
    path = folder / f"input{reader.suffix}"
    path.write_bytes(data)
    told = trial(partial(reader.call, path))
    return [Failure(name, seed, told, {path.name: data})] if told else []


def _texts(*texts: str) -> Seeds:
    return lambda: tuple(text.encode() for text in texts)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _m2(path: Path, *, lenient: bool) -> None:
    format_m2(read_m2(path, lenient=lenient).blocks)


def _corpus(path: Path) -> None:
    len(read_corpus(source=path, references=[path]))


def _corrections(path: Path) -> None:
    (text := path.with_name("A.txt")).write_text("x\ny\n", "utf-8")
    len(read_corpus(source=text, references=[path], systems=[text]))


def _parallel(path: Path) -> None:
    read_parallel(str(path))


def _sgml(path: Path) -> None:
    parse_sgml(read_text(path), str(path))


def _standoff(path: Path) -> None:
    lay_on(parse_sgml(read_text(path), str(path)), samples.SENTENCES)


def _records(path: Path) -> None:
    records = read_records(path)
    write_records(path.with_name("again.jsonl"), records)
    read_corpus(corpus=path)


def _columns(path: Path) -> None:
    table = read_columns(path)
    table.texts("source")
    if "score" in table.cells:
        table.numbers("score")


def _judgments(path: Path) -> None:
    found = read_judgments(path)
    for form in ("appraise", "wmt", "jsonl"):
        text = format_judgments(found, form)
        if form != "wmt":
            assert parse_judgments(text, "again").rankings[:1] == found.rankings[:1]
    read_judgments_of(path, segments=2)
    (other := path.with_name("other.jsonl")).write_text(samples.JUDGMENTS, "utf-8")
    with suppress(UsageError):  # they do not show that they count alike
        read_judgments([path, other])


def _judged_edits(path: Path) -> None:
    judged = read_judgments(path)
    assert isinstance(judged, EditJudgments)
    agree(judged)
    rank(judged, by="accept-rate", resamples=5)


def _edit_values(path: Path) -> None:
    read_edit_values(path)


def _rated(path: Path) -> None:
    ratings = read_judgments(path)
    if isinstance(ratings, Ratings):
        for criterion in (*ratings.criteria, "mean"):
            ratings.rankings(criterion)
        agree(ratings).to_dict()
        rank(ratings, criterion=ratings.criteria[0], resamples=50).to_dict()


def _judged_outputs(path: Path) -> None:
    outputs = {name: text.splitlines() for name, text in samples.OUTPUTS.items()}
    read_judgments(path, systems=outputs)


def _items(path: Path) -> None:
    items_text(read_items(path))


def _scores(path: Path) -> None:
    table = read_scores(path)
    table.to_full_dict()
    table._repr_html_()  # pyright: ignore[reportPrivateUsage]


def _materials(path: Path) -> None:
    read(path)


def _score_file(path: Path) -> None:
    read_score_file(path).to_dict()


def _shards(path: Path) -> None:
    for shard in find_shards([str(path)]):
        odd_ends(shard)
        for block in read_blocks(shard, 2):
            parse_block(block)


def _paired_shards(path: Path) -> None:
    other = path.with_name("other.txt")
    other.write_text(samples.SOURCE, "utf-8")
    for shard in find_shards([f"{path}:{other}"]):
        for block in read_blocks(shard, 2):
            parse_block(block)


def _spelling(path: Path) -> None:
    name, fields = parse(_text(path))
    again = parse(spell(name, fields))
    assert repr(again) == repr((name, fields)), "spelling does not parse back"  # NaN is not NaN


def _metric(path: Path) -> None:
    value = metric(_text(path))
    assert metric(str(value)) == value, "spelling does not parse back"


def _keep(path: Path) -> None:
    keep = parse_keep(_text(path), ["gleu(order=2)", "errant.edits", "id"])
    keep({"gleu(order=2)": 0.5, "errant.edits": None, "id": 10**400})


def _reply(path: Path) -> None:
    for targets in (1, 3):
        read_reply(_text(path), targets)


def _signature(path: Path) -> None:
    try:
        Signature.parse(_text(path))
    except ValueError:  # what it promises; files that hold signatures make data errors of it
        return


def _prices(path: Path) -> None:
    read_prices(path)


def _pairs(path: Path) -> None:
    pairs_of(alone(path, PAIRS))


def _criteria(path: Path) -> None:
    from grammeter.campaign.criteria import read_criteria

    read_criteria(path)


def _checks(path: Path) -> None:
    from grammeter.campaign.criteria import read_checks

    read_checks(path, loud=True)


def _archive(path: Path) -> None:
    get_dataset("conll14_test", source=path)
    raise AssertionError("made-up archives hold no data set")


def _stored(*verbs: str) -> Seeds:
    return lambda: tuple(samples.stored()[verb] for verb in verbs)


def _parquet() -> tuple[bytes, ...]:
    return (samples.parquet(),)


_TABLES: Sequence[tuple[str, Seeds]] = (
    ("jsonl", _texts(samples.RECORDS_JSONL, samples.OWN_JSONL)),
    ("tsv", _texts(samples.RECORDS_TSV, samples.OWN_TSV, samples.OF_OBJECTS)),
    ("csv", _texts(samples.RECORDS_CSV)),
    ("parquet", _parquet),
)
READERS: dict[str, Reader] = {
    "text": Reader(read_lines, _texts(samples.SOURCE, samples.WORSE)),
    "m2": Reader(partial(_m2, lenient=False), _texts(samples.M2), ".m2"),
    "m2 lenient": Reader(partial(_m2, lenient=True), _texts(samples.M2), ".m2"),
    "corpus": Reader(_corpus, _texts(samples.M2, samples.SOURCE)),
    "corrections": Reader(_corrections, _texts(samples.CORRECTED), ".json"),
    "robustness": Reader(read_robustness, _texts(samples.PARA)),
    "sgml": Reader(_sgml, _texts(samples.SGML), ".sgml"),
    "standoff": Reader(_standoff, _texts(samples.SGML), ".sgml"),
    **{f"records {form}": Reader(_records, seeds, f".{form}") for form, seeds in _TABLES},
    "columns jsonl": Reader(_columns, _texts(samples.PAIRS_JSONL), ".jsonl"),
    "columns tsv": Reader(_columns, _texts(samples.PAIRS_TSV), ".tsv"),
    "columns csv": Reader(_columns, _texts(samples.PAIRS_CSV), ".csv"),
    "columns parquet": Reader(_columns, _parquet, ".parquet"),
    "parallel m2": Reader(_parallel, _texts(samples.M2), ".m2"),
    "parallel tsv": Reader(
        lambda path: read_parallel(str(path)), _texts(samples.PAIRS_TSV), ".tsv"
    ),
    "ratings csv": Reader(read_ratings, _texts(samples.RATINGS), ".csv"),
    "judgments": Reader(_judgments, _texts(*samples.ALL_JUDGMENTS), ".xml"),
    "judgments of edits": Reader(_judged_edits, _texts(samples.EDITS, samples.EDITS_CSV), ".jsonl"),
    "values of edits": Reader(_edit_values, _texts(samples.EDIT_VALUES), ".tsv"),
    "ratings": Reader(_rated, _texts(*samples.RATED), ".csv"),
    "judgments of outputs": Reader(
        _judged_outputs,
        _texts(samples.APPRAISE, samples.WMT, samples.JUDGMENTS.replace('"A"', '"ALPHA"')),
        ".xml",
    ),
    "items": Reader(_items, _texts(samples.ITEMS), ".jsonl"),
    "criteria": Reader(_criteria, _texts(samples.CRITERIA), ".toml"),
    "checks": Reader(_checks, _texts(samples.CHECKS), ".jsonl"),
    "foreign scores": Reader(
        _score_file,
        _texts(samples.METRIC_SCORES, samples.SEGMENT_SCORES, samples.WMT_SCORES),
        ".tsv",
    ),
    "human scores": Reader(
        read_human,
        lambda: (samples.HUMAN_SCORES.encode(), samples.stored()["rank"]),
        ".tsv",
    ),
    "stored scores": Reader(_scores, _stored("score"), ".json"),
    "stored materials": Reader(_materials, _stored("rank", "compare", "meta", "agree"), ".json"),
    "shards jsonl": Reader(_shards, _texts(samples.PAIRS_JSONL), ".jsonl"),
    "shards tsv": Reader(_shards, _texts(samples.PAIRS_TSV), ".tsv"),
    "shards csv": Reader(_shards, _texts(samples.PAIRS_CSV), ".csv"),
    "shards parquet": Reader(_shards, _parquet, ".parquet"),
    "shards text": Reader(_paired_shards, _texts(samples.BETTER)),
    "spelling": Reader(_spelling, _texts(*samples.SPELLINGS)),
    "metric": Reader(_metric, _texts(*samples.SPELLINGS)),
    "keep": Reader(_keep, _texts(*samples.FILTERS)),
    "reply": Reader(_reply, _texts(samples.REPLY)),
    "signature": Reader(_signature, _texts("m2|beta:0.5|refs:2|grammeter:0.1.0")),
    "prices": Reader(_prices, _texts(samples.PRICES), ".json"),
    "training pairs": Reader(_pairs, lambda: (PAIR,), ".jsonl"),
    "archive": Reader(_archive, samples.archives, ".zip"),
    **KEPT,
}

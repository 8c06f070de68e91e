"""Valid inputs of every kind, made up here: what is damaged to see what becomes of it."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = "Dog bark at a moon .\nHe are glad to sees it .\nNo cat is here\n"
BETTER = "The dog barks at the moon .\nHe is glad to see it .\nNo cat is here\n"
WORSE = "Dog bark at a moon .\nHe are glad sees it .\nNo cats is here\n"
SYSTEMS = ("ALPHA", "BETA", "GAMMA")
OUTPUTS = dict(zip(SYSTEMS, (BETTER, WORSE, SOURCE), strict=True))

M2 = """\
S Dog bark at a moon .
A 0 1|||R:NOUN|||The dog|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||barks|||REQUIRED|||-NONE-|||0
A 3 4|||R:DET|||the||one|||REQUIRED|||-NONE-|||0
A 3 4|||U:DET||||||REQUIRED|||note|||1

S He are glad to sees it .
T0-A0 He is glad to see it .
A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:FORM|||see|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S No cat is here
A 4 4|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0

"""

SGML = """\
<DOC nid="7">
<TEXT>
<TITLE>
On dogs
</TITLE>
<P>
Dog bark at R&D moon. He are glad.
</P>
</TEXT>
<ANNOTATION teacher_id="3">
<MISTAKE start_par="1" start_off="4" end_par="1" end_off="8">
<TYPE>SVA</TYPE>
<CORRECTION>barks</CORRECTION>
<COMMENT>agreement</COMMENT>
</MISTAKE>
<MISTAKE start_par="1" start_off="25" end_par="1" end_off="28">
<TYPE>SVA</TYPE>
<CORRECTION>is</CORRECTION>
</MISTAKE>
</ANNOTATION>
</DOC>
"""
SENTENCES = ("On dogs", "Dog bark at R&D moon .", "He are glad .")
"""What :data:`SGML` holds, as tokens."""

APPRAISE = """\
<appraise-results>
<error-correction-ranking-result id="a" source-language="err" target-language="cor">
  <ranking-item doc-id="d" duration="00:00:29.786000" id="1" src-id="0" user="ann">
    <translation rank="1" system="ALPHA"/>
    <translation rank="2" system="BETA GAMMA"/>
  </ranking-item>
  <ranking-item doc-id="d" duration="1 days, 0:01:02" id="2" src-id="1" user="bob">
    <translation rank="1" system="ALPHA"/>
    <translation rank="3" system="BETA"/>
    <translation rank="2" system="GAMMA"/>
  </ranking-item>
  <ranking-item id="3" skipped="true" src-id="2" user="bob"/>
</error-correction-ranking-result>
</appraise-results>
"""
WMT = """\
srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
src,trg,0,0,ann,set.ALPHA.src-trg,1,set.BETA.src-trg,2,1
src,trg,0,0,ann,set.ALPHA.src-trg,1,set.GAMMA.src-trg,2,1
src,trg,0,0,ann,set.BETA.src-trg,2,set.GAMMA.src-trg,2,1
src,trg,1,1,bob,"set.ALPHA.src-trg",2,set.GAMMA.src-trg,-1,2
"""
APPRAISE_OF_WMT = """\
<WMT15-results><HIT source-language="src" target-language="trg"><ranking-task id="7">
<ranking-result duration="00:00:35.3" user="ann">
<translation rank="1" system="ALPHA+GAMMA"/><translation rank="2" system="BETA"/></ranking-result>
</ranking-task></HIT><HIT source-language="trg" target-language="src"><ranking-task id="7">
<ranking-result user="bob"><translation rank="1" system="ALPHA"/><translation rank="2"
 system="GAMMA" score="2.5"/></ranking-result></ranking-task></HIT></WMT15-results>
"""
WMT_OF_OLD = """\
srclang\ttrglang\tsegment_id\tdocumentId\tsystem1Number\tsystem1\tsystem2\tsystem3\trank1\trank2\trank3

src\ttrg\t1\td1\t-1\tALPHA\tBETA+GAMMA\t###\t1\t2.0\t-1\t
src\ttrg\t1\td2\t-1\tALPHA\tBETA\tGAMMA\t1\t2\t2
"""
JUDGMENTS = """\
{"judge": "ann", "segment": 1, "groups": [["ALPHA"], ["BETA", "GAMMA"]], "ranks": [1, 2]}
{"judge": "bob", "segment": 1, "groups": [["ALPHA"], ["BETA"], ["GAMMA"]], "ranks": [1, 2, 2]}
{"judge": "ann", "segment": 1, "groups": [["ALPHA"], ["BETA"], ["GAMMA"]], "ranks": [2, 1, 3]}
{"judge": "bob", "segment": 2, "groups": [["ALPHA"], ["BETA"]], "skipped": true, "seconds": 2.5}
{"judge": "bob", "segment": 3, "groups": [["GAMMA"], ["BETA"]], "ranks": [1, 1], "item": "x"}
{"judge": "llm", "segment": 3, "groups": [["A"]], "ranks": [1], "scores": [3.5], "replies": [{}]}
"""
EDITS = """\
{"judge": "ann", "segment": 1, "item": "0", "shown": [["ALPHA"], ["BETA", "GAMMA"]], "edits": \
[[{"start": 0, "end": 1, "correction": "Dogs", "verdict": "valid"}], [{"start": 1, "end": 1, \
"correction": "", "verdict": null}]], "marked": [[0, 1]]}
{"judge": "bob", "segment": 1, "shown": [["ALPHA"]], "edits": [[{"start": 0, "end": 1, \
"correction": "Dogs", "verdict": "invalid"}]], "version": 2, "kind": "normal"}
"""
EDITS_CSV = """\
judge,segment,system,start,end,correction,verdict
ann,1,ALPHA,0,1,Dogs,valid
ann,1,BETA,1,2,"barks, loudly",0
"""
EDIT_VALUES = """\
metric\tsegment\tstart\tend\tcorrection\tvalue
m\t1\t0\t1\tDogs\t0.5
"""
ALL_JUDGMENTS = (APPRAISE, APPRAISE_OF_WMT, WMT, WMT_OF_OLD, JUDGMENTS)
RATED = (
    "judge,segment,system,criterion,score,scale\nann,1,X,fluency,2,1-4\nbob,1,X,fluency,,1-4\n",
    "judge\titem\tsystem\tfluency\tmeaning\nann\tq7\tX\t2\t4\nann\tq7\tY\t1\t2\n",
    '{"judge": "a", "segment": 1, "system": ["X", "Y"], "scores": {"f": 3}, "scale": [1, 4]}\n'
    '{"judge": "b", "segment": 1, "system": "Z", "criterion": "f", "score": 1}\n',
    "#X\nGrammaticality: 3 Fluency: 2\nGrammaticality: 1 Fluency: 4\n",
    'source,output,grammer,fluency,meaning,system,ave_g\ns,o,"1,0","2,3","4,4","X,Y",1\n',
    "ann,X+Y,0,TGT,eng,swe,80,1.0,2.0\nann,Z,0,BAD,eng,swe,5,1.0,2.0\n",
    '{"data": [{"original": "a", "systems": {"X": {"output": "b", "annotators": {"ann":'
    ' {"Fluency": 3}}}}}]}',
)
RATED_SYSTEMS = """\
judge,segment,system,criterion,score,scale
ann,1,ALPHA,fluency,2,1-4
ann,1,BETA,fluency,4,1-4
bob,2,ALPHA,fluency,,1-4
bob,2,BETA,fluency,3,1-4
"""
ITEMS = """\
{"segment": 1, "systems": ["ALPHA", "BETA"], "judges": ["ann"], "groups": [["ALPHA"], ["BETA"]]}
{"segment": 2, "systems": ["BETA", "GAMMA"], "item": "17", "judges": ["ann"], "distinct": 2}
{"segment": 2, "systems": ["ALPHA", "GAMMA"], "judges": ["ann"], "signature": "sample|seed:1"}
"""
CHECKS = """\
{"source": "He go .", "outputs": ["He goes .", "He gone ."], "ranks": [1, 2], "loud": true}
{"source": "It is .", "outputs": ["It is .", "It be ."], "ranks": [1, 2], "before": "a"}
"""
CRITERIA = """\
[fluency]
question = "Is it fluent?"
scale = [0, 5]

[meaning.anchors]
1 = "another one"
2 = "the same"
"""
RECORDS_JSONL = """\
{"source": "Dog bark .", "references": ["Dogs bark .", null], "systems": {"A": "Dog barks ."}}
{"source": "He are .", "references": ["He is .", "They are ."], "systems": {"A": "He is ."}}
"""
RECORDS_TSV = "source\treference.0\tsystem.A\nDog bark .\tDogs bark .\tA b\nHe are .\tHe is .\tx\n"
OWN_JSONL = """\
{"source": "Dog bark .", "references": {"A": ["Dogs bark .", null]}, "systems": {"A": "Dog barks"}}
{"source": "He are .", "references": {"A": ["He is .", "They"]}, "systems": {"A": "He is ."}}
"""
OWN_TSV = "source\tA.reference\tsystem.A\nDog bark .\tDogs\tA b\nHe are .\tHe is .\tx\n"
OF_OBJECTS = 'source\treferences\tsystem.A\nDog .\t{"A": ["Dogs .", null]}\tA b\n'
CORRECTED = """\
{"data": [
{"original": "Dog", "systems": {"A": {"output": "x", "annotators": {"j": {"corrected": "Dogs"}}}}},
{"original": "He", "systems": {"A": {"output": "y", "annotators": {"j": {"Fluency": 3}, "k": {}}}}}
]}
"""
RECORDS_CSV = 'source,reference.0,system.A\n"Dog, bark","Dogs ""bark""",A b\nHe are,He is,"x"\n'
PAIRS_JSONL = """\
{"source": "Dog bark .", "hypothesis": "Dogs bark .", "reference": "Dogs bark .", "score": 1.5}
{"source": "He are .", "hypothesis": "He is .", "reference": "They are .", "score": 2}
"""
PAIRS_TSV = (
    "source\thypothesis\treference\tid\nDog bark .\tDogs bark .\tDogs bark .\t7\nA\tB\tC\t8\n"
)
PAIRS_CSV = 'source,hypothesis,reference\n"Dog, bark","Dogs ""bark""",A b\nHe are,He is,"x\ny"\n'
RATINGS = "source,output,system,ave_g,ave_f,ave_m\nDog bark .,Dogs .,A,3.5,2,4.0\nA,B,C,1,2,3\n"
METRIC_SCORES = "metric\tsystem\tvalue\tprecision\nm2\tALPHA\t0.5\t0.25\nm2\tBETA\tNone\t1e-3\n"
SEGMENT_SCORES = "metric\tsystem\tsegment\tvalue\nm2\tALPHA\t1\t0.5\nm2\tBETA\t2\t-0.25\n"
WMT_SCORES = "BLEU err-cor set1 ALPHA 0 0.5\nBLEU err-cor set1 ALPHA 1 0.25\n"
HUMAN_SCORES = "system\tvalue\nALPHA\t0.5\nBETA\t0.25\nGAMMA\t-0.125\n"
SYSTEM_SCORES = "metric\tsystem\tvalue\n" + "".join(
    f"{metric}\t{system}\t{value}\n"
    for metric, values in {"one": (0.5, 0.25, 0.125), "two": (1, 3, 2)}.items()
    for system, value in zip(SYSTEMS, values, strict=True)
)
PRICES = '{"currency": "USD", "models": {"tiny": {"input": 2.5, "output": 10}}}\n'
REPLY = """<think>the first is better</think>
Here you are:
```json
{"target1_score": 4, "target2_score": "3.0", // as asked
 "target3_score": 5,}
```
"""
FILTERS = ("gleu(order=2) >= 0.5 and not (errant.edits == 0 or id != 3e-1)", "gleu(order=2) < -1")
SPELLINGS = (
    "m2(beta=1.0, max_unchanged=3)",
    "gleu(order=2, iterations=10, unit=char)",
    'some(weights=(0.5, 0.25, 0.25), model="a, \\"b\\"")',
    "errant(categories=full, filter=none, mode='span-type')",
    "llm-s(model=tiny, criterion=fluency)",
    "imeasure(weight=2.0, mix=true)",
)


@cache
def parquet(text: str = RECORDS_JSONL) -> bytes:
    """Return a table of records as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [json.loads(line) for line in text.splitlines()]
    columns = {"source": [row["source"] for row in rows]}
    for n in range(len(rows[0].get("references", ()))):
        columns[f"reference.{n}"] = [row["references"][n] for row in rows]
    for name in rows[0].get("systems", {}):
        columns[f"system.{name}"] = [row["systems"][name] for row in rows]
    out = io.BytesIO()
    parquet.write_table(pa.table({n: pa.array(of, pa.string()) for n, of in columns.items()}), out)
    return out.getvalue()


@cache
def stored() -> dict[str, bytes]:
    """Return what verbs write with ``-o``, by verb; all from the texts above."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        at = {file.name: str(file) for file in folder.iterdir()}
        hyps = [at[f"{system}.txt"] for system in SYSTEMS]
        corpus = ["-s", at["source.txt"], "-r", at["gold.m2"], at["ref.txt"], "--hyps", *hyps]
        made = {verb: str(folder / f"{verb}.out") for verb in ("score", "rank", "compare", "meta")}
        made["agree"] = str(folder / "agree.out")
        _run(["score", *corpus, "-m", "m2", "gleu(iterations=3)", "-o", made["score"]])
        _run(["rank", at["judgments.jsonl"], "--bootstrap", "9", "-o", made["rank"]])
        _run(["compare", made["score"], "--resamples", "9", "-o", made["compare"]])
        _run(["agree", at["judgments.jsonl"], "-o", made["agree"]])
        _run(["meta", "system", at["system-scores.tsv"], at["human.tsv"], "-o", made["meta"]])
        return {verb: Path(path).read_bytes() for verb, path in made.items()}


PARA = """O-S She go home .
O-T She goes home .
A1-S He go home .
A1-T He goes home .

O-S A cat sleep .
O-T A cat sleeps .
A1-S A dog sleep .
A1-T A dog sleeps .
"""
VARIANTS = "She goes home .\nHe go home .\nA cat sleeps .\nA dog sleeps .\n"


def lay_out(folder: Path) -> None:
    """Write the files that verbs read into a folder."""
    texts = {
        **{"source.txt": SOURCE, "ref.txt": BETTER, "gold.m2": M2, "essays.sgml": SGML},
        **{f"{system}.txt": text for system, text in OUTPUTS.items()},
        **{"edits.jsonl": EDITS, "edits.csv": EDITS_CSV, "values.tsv": EDIT_VALUES},
        "rated.csv": RATED_SYSTEMS,
        **{"judgments.xml": APPRAISE, "judgments.csv": WMT, "judgments.jsonl": JUDGMENTS},
        **{"items.jsonl": ITEMS, "checks.jsonl": CHECKS, "records.jsonl": RECORDS_JSONL},
        "criteria.toml": CRITERIA,
        **{"pairs.jsonl": PAIRS_JSONL, "pairs.tsv": PAIRS_TSV, "pairs.csv": PAIRS_CSV},
        **{"scores.tsv": METRIC_SCORES, "segments.tsv": SEGMENT_SCORES, "human.tsv": HUMAN_SCORES},
        **{"para.txt": PARA, "variants.txt": VARIANTS},
        **{"system-scores.tsv": SYSTEM_SCORES, "prices.json": PRICES, "ratings.csv": RATINGS},
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


def _run(words: Sequence[str]) -> None:
    from grammeter.cli.main import main

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as told:
        code = main(words)
    assert code == 0, told.getvalue()


@cache
def archives() -> tuple[bytes, ...]:
    """Return archives, harmless and hostile, small and not: links, ``..``, bombs."""
    return (
        _zip({"a/b.txt": SOURCE}),
        _zip({"../../evil": "x"}),
        _zip({"/etc/evil": "x"}),
        *(
            _tar(kind, mode)
            for kind in (tarfile.REGTYPE, tarfile.SYMTYPE)
            for mode in ("", "gz", "bz2")
        ),
    )


def _zip(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def _tar(kind: bytes, mode: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{mode}") as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("a/b.txt")
        info.type, info.linkname, info.size = kind, "../../evil", len(SOURCE)
        archive.addfile(info, io.BytesIO(SOURCE.encode()) if kind == tarfile.REGTYPE else None)
    return out.getvalue()


def as_lines(*objects: object) -> bytes:
    """Return JSON lines."""
    return "".join(json.dumps(value) + "\n" for value in objects).encode()

"""Human scores of outputs, as TMU-GFM has them and in plain columns."""

from __future__ import annotations

import pytest

from grammeter.core import DataError
from grammeter.formats.records import read_ratings


def table(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text, "utf-8")
    return path


def test_means_stand_before_single_ratings(tmp_path):
    path = table(
        tmp_path,
        "source,output,system,ave_g,ave_f,ave_m,fluency,meaning\n"
        '"a , b",c,X,1.5,2.0,4.0,"[1, 2]","[4]"\n',
    )
    (row,) = read_ratings(path)
    assert (row.source, row.output) == ("a , b", "c")
    assert row.scores == {"grammaticality": 1.5, "fluency": 2.0, "meaning": 4.0}


def test_plain_columns_and_some_of_them(tmp_path):
    (row,) = read_ratings(table(tmp_path, "source,hypothesis,meaning\na,b,3\n"))
    assert (row.output, row.scores) == ("b", {"meaning": 3.0})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,output,score\na,b,1\n", "no column with human scores"),
        ("src,output,fluency\na,b,1\n", "no column 'source'"),
        ("source,text,fluency\na,b,1\n", "no column 'output'"),
        ("source,output,fluency\na,b,good\n", "scores.csv:2"),
        ("source,output,fluency\na,b,\n", "scores.csv:2"),
        ("source,output,fluency\n", "no row"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(DataError) as caught:
        read_ratings(table(tmp_path, text))
    assert message in str(caught.value)


def test_tmu_gfm(shared):
    """Spec 9.2: 4,221 rows, 1,378 sources, 1,032 unchanged, means 1 to 4."""
    (path,) = sorted((shared / "data" / "tmu_gfm").glob("*.csv*"))[:1]
    rows = read_ratings(path)
    assert len(rows) == 4221
    assert len({row.source for row in rows}) == 1378
    assert sum(row.source == row.output for row in rows) == 1032
    scores = [score for row in rows for score in row.scores.values()]
    assert (len(scores), min(scores), max(scores)) == (3 * 4221, 1.0, 4.0)

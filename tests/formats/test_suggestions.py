"""What checkers suggest, read from their own output and turned into edits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import grammeter as gm
from grammeter.formats import read_suggestions
from grammeter.formats.suggestions import Suggestion

LINES = ["He go 𝒽ome .", "She likes ist ."]


def match(offset, length, *texts, rule="RULE"):
    values = [{"value": text} for text in texts]
    return {"offset": offset, "length": length, "replacements": values, "rule": {"id": rule}}


def diagnostic(line, first, last, *texts):
    place = {"start": {"line": line, "column": first}, "end": {"line": line, "column": last}}
    suggestions = [{"range": place, "text": text} for text in texts]
    code = {"value": "RULE"}
    return {"message": "x", "location": {"range": place}, "suggestions": suggestions, "code": code}


def lint(start, end, *suggestions):
    span = {"start": start, "end": end}
    return {"span": span, "lint_kind": "RULE", "suggestions": list(suggestions), "message": ""}


def alert(line, first, last, name, *params):
    action = {"Name": name, "Params": list(params) or None}
    return {"Line": line, "Span": [first, last], "Action": action, "Check": "RULE"}


# the same two suggestions as each checker writes them, the second behind a letter beyond 16 bits
WANTED = [[Suggestion(3, 5, ("goes", "went"), "RULE"), Suggestion(6, 10, ("home",), "RULE")],
          [Suggestion(10, 13, ("it",), "RULE")]]  # fmt: skip
ANSWERS = {
    "languagetool": {
        "matches": [match(3, 2, "goes", "went"), match(6, 5, "home"), match(24, 3, "it")]
    },
    "harper": [{"lints": [
        lint(3, 5, {"ReplaceWith": list("goes")}, {"ReplaceWith": list("went")}),
        lint(6, 10, {"ReplaceWith": list("home")}),
        lint(23, 26, {"ReplaceWith": list("it")}),
    ]}],
    "vale": {"src.txt": [
        alert(1, 4, 5, "replace", "goes", "went"), alert(1, 7, 10, "replace", "home"),
        alert(2, 11, 13, "replace", "it"),
    ]},
    "reviewdog": {"diagnostics": [
        diagnostic(1, 4, 6, "goes", "went"), diagnostic(1, 7, 14, "home"),
        diagnostic(2, 11, 14, "it"),
    ]},
}  # fmt: skip


@pytest.mark.parametrize("form", ANSWERS)
def test_each_checker_says_the_same(form, tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(ANSWERS[form], indent=1), encoding="utf-8")
    assert read_suggestions(path, LINES, form) == WANTED


def test_an_answer_for_each_line(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [{"matches": [match(3, 2, "goes", "went"), match(6, 5, "home")]},
             {"matches": [match(10, 3, "it")]}]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_suggestions(path, LINES, "languagetool") == WANTED
    lines = ANSWERS["reviewdog"]["diagnostics"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_suggestions(path, LINES, "reviewdog") == WANTED


def test_what_harper_and_vale_do_beside_replacing(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([lint(0, 2, "Remove", {"InsertAfter": [","]})]), encoding="utf-8")
    assert read_suggestions(path, LINES, "harper")[0] == [Suggestion(0, 2, ("", "He,"), "RULE")]
    alerts = [alert(1, 1, 2, "remove"), alert(1, 1, 2, "suggest", "spellings"), alert(2, 1, 3, "")]
    path.write_text(json.dumps({"src.txt": alerts}), encoding="utf-8")
    (one, other), (last,) = read_suggestions(path, LINES, "vale")
    assert (one.texts, other.texts, last.texts) == (("",), (), ())


@pytest.mark.parametrize(
    ("start", "end", "texts", "edit"),
    [
        (3, 5, ("goes",), (1, 2, "goes")),
        (4, 5, ("oes",), (1, 2, "goes")),  # within a token
        (3, 5, ("will go",), (1, 2, "will go")),
        (2, 5, (" goes",), (1, 2, "goes")),
        (5, 5, (" quickly",), (2, 2, "quickly")),  # a new token
        (5, 5, (",",), (1, 2, "go,")),  # which sticks to the token before
        (5, 6, ("",), (1, 3, "gohome")),
        (3, 6, ("",), (1, 2, "")),
        (0, 0, ("Yes, ",), (0, 0, "Yes,")),
        (12, 12, (" !",), (4, 4, "!")),
    ],
)
def test_places_become_tokens(start, end, texts, edit):
    made = Suggestion(start, end, texts, "RULE").edit("He go home .")
    assert (made.start, made.end, made.correction, made.type) == (*edit, "RULE")


@given(st.text("ab ,", max_size=12), st.data())
def test_the_edit_makes_the_text_that_was_suggested(line, data):
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    text = data.draw(st.text("ab ,", max_size=4))
    edit = Suggestion(start, end, (text,), "RULE").edit(line)
    assert gm.core.apply(line.split(), [edit]) == f"{line[:start]}{text}{line[end:]}".split()


def test_several_that_count_as_right_share_a_place():
    edit = Suggestion(3, 5, ("goes", "go,", "goes", "went"), "RULE").edit("He go home .", best=3)
    assert edit.corrections == ("goes", "go,")
    where = Suggestion(3, 4, ("g",), "RULE").edit("He go home .", best=0)
    assert (where.start, where.end, where.correction, where.type) == (1, 2, "go", "UNK")


def test_what_is_left_out_is_counted(tmp_path):
    path = tmp_path / "answers.json"
    matches = [match(3, 2, "goes"), match(0, 5, "They go"), match(2, 1, "  "), match(6, 4)]
    path.write_text(json.dumps({"matches": matches}), encoding="utf-8")
    made = gm.edits_from_suggestions(path, ["He go home ."])
    assert [edit.correction for _, edit in made.blocks[0].lines] == ["They go", "home"]
    assert made.notes == (
        "1 suggestions overlap an earlier one; they are left out",
        "1 suggestions change white space alone; they are left out",
        "1 suggestions say where, not what: edits of the type UNK",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"matches": [{"offset": 3}]}', "not what languagetool writes"),
        (json.dumps({"matches": [match(30, 2, "x")]}), "byte 60 of 24"),
        ('{"matches": []}\n{"matches": []}\n', "2"),
        ("no json", "no JSON"),
        ("", "0"),
    ],
)
def test_bad_input_names_the_file(text, said, tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(gm.DataError, match=said) as caught:
        gm.edits_from_suggestions(path, ["He go home ."])
    assert "answers.json" in str(caught.value)
    with pytest.raises(gm.UsageError, match="best=-1"):
        gm.edits_from_suggestions(path, ["He go home ."], best=-1)


def test_an_empty_file_is_no_answer_but_of_reviewdog(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text("", encoding="utf-8")
    for form in ("languagetool", "harper", "vale"):
        with pytest.raises(gm.DataError, match=r"answers\.json"):
            read_suggestions(path, LINES, form)
    assert read_suggestions(path, LINES, "reviewdog") == [[], []]  # a line a diagnostic: none

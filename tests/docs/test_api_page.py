"""docs/api.md documents every public name, and shows how functions are called."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import grammeter as gm

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")

ELSEWHERE = {
    "campaign_backup", "campaign_exclude", "campaign_export", "campaign_include",
    "campaign_forget", "campaign_import",
    "campaign_organiser", "campaign_reopen", "campaign_serve", "campaign_upgrade",
    "dataset_path", "edits_align", "edits_compare", "edits_convert", "edits_from_suggestions",
    "edits_split", "get_dataset", "meta_attack", "meta_edits",
    "meta_judge", "read_benchmark", "read_robustness", "robustness",
}  # fmt: skip
"""Functions that need files or data which the sample corpus lacks; other pages call them."""


def test_every_public_name_is_documented_once():
    names = re.findall(r"^\.\. auto\w+:: grammeter\.(\w+)$", PAGE, re.M)
    assert sorted(names) == sorted(set(gm.__all__) - {"__version__"})


def test_functions_are_called_in_an_example():
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.S))
    functions = {name for name in gm.__all__ if inspect.isfunction(getattr(gm, name))}
    trained = {name for name in functions if name.startswith("train_")} | {"batch"}
    assert {name for name in functions if f"gm.{name}(" not in code} == ELSEWHERE | trained

"""Pages on texts of other tokens and boundaries: their commands on real data."""

from __future__ import annotations

import pytest

from page_examples import ROOT, lay_out, module_of, run_blocks


@pytest.mark.slow
def test_text_level(shared, tmp_path, monkeypatch):
    lay_out(tmp_path)
    (tmp_path / "lang_cs_geccc").symlink_to(shared / "data" / "lang_cs_geccc")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "concepts" / "text-level.md"
    with module_of(page, monkeypatch) as module:
        run_blocks(page, module, ["shell-session"])

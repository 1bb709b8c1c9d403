"""The cookbook: its index has all pages, and its tables compare ways that agree. Nothing here is timed. That its
pictures are those that the command draws is tested with the others (tests/documents/test_site.py)."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from roots import DOCS

pytest.importorskip("torch")
pytest.importorskip("PIL")

from benchmarks import __main__ as command, cookbook

FOLDER = DOCS / "cookbook"
PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "README")
sys.path.append(str(FOLDER.parent))
from drawings.recipes import all_recipes  # noqa: E402


def test_index_tables_and_pictures_have_all_pages():
    index = (FOLDER / "README.md").read_text()
    linked = re.findall(r"^\| \[.*?\]\((.*?)\.md\)", index, re.M)
    assert sorted(linked) == PAGES and sorted(cookbook.TABLES) == sorted(
        name.partition("/")[2] for name in all_recipes()
    )
    for name in PAGES:
        text = (FOLDER / f"{name}.md").read_text()
        measured = name in cookbook.TABLES  # the others are code alone
        assert (f"]({name}.svg)" in text) == measured
        assert text.count(cookbook.BEGIN) == text.count(cookbook.END) == measured
        title = text.partition("\n")[0].removeprefix("# ")
        assert f"[{title}]({name}.md)" in index


@pytest.mark.parametrize("name", sorted(cookbook.TABLES))
def test_the_ways_of_a_table_agree_and_the_page_names_them(name):
    text = (FOLDER / f"{name}.md").read_text()
    for title, make, n in cookbook.TABLES[name]:
        ways = make(max(8, n // 50))
        cookbook.same(ways)
        assert title in text and all(f"\n| {way} |" in text for way in ways)


def test_ways_that_disagree_are_not_timed():
    with pytest.raises(AssertionError):
        cookbook.rows({"other": lambda: np.zeros(3), "ours": lambda: np.ones(3)})


def test_the_command_writes_between_the_markers(tmp_path, monkeypatch):
    monkeypatch.setattr(cookbook, "PAGES", tmp_path)
    monkeypatch.setattr(cookbook, "SECONDS", 0.0)
    monkeypatch.setattr(cookbook, "BLOCK", 0.0)
    monkeypatch.setattr(cookbook, "TABLES", {"spans": [("Few spans", cookbook.spans, 4)]})
    monkeypatch.setattr(command, "copy_bandwidth", lambda: 1e9)
    monkeypatch.setattr(command.peers, "set_threads", lambda n: None)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "cookbook", "--threads", "3"])
    page = tmp_path / "spans.md"
    page.write_text(f"before\n{cookbook.BEGIN}\nold\n{cookbook.END}\nafter\n")
    assert command.main() == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text and "3 threads" in text
    assert len(re.findall(r"^\| .* (ms|us) \| .* \| [\d.]+ \|$", text, re.M)) == len(cookbook.spans(4))


@pytest.mark.skipif(not cookbook.RESET.exists(), reason="the system does not tell peaks of memory")
def test_peaks_of_memory():
    assert 15 < cookbook.peak(lambda: np.ones(16 << 20, np.uint8)) / 2**20 < 20
    kept = np.ones(16 << 20, np.uint8)
    assert cookbook.peak(lambda: kept[:1]) / 2**20 < 4

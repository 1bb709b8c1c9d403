"""The benchmark of gaps and coordinates on small fields. Nothing here depends on time."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from benchmarks import cookbook, gaps


@pytest.mark.parametrize("title", gaps.TABLES)
def test_ways_that_are_timed_have_the_same_values(title):
    ways = gaps.TABLES[title](8)
    gaps.check(ways)
    assert "tenter." in list(ways)[-1]
    page = gaps.PAGE.read_text()
    assert title in page and all(f"| {name} |" in page for name in ways if "xarray" not in name)


@pytest.mark.slow
def test_the_command_writes_its_page(tmp_path, monkeypatch):
    page = tmp_path / "gaps.md"
    page.write_text(f"before\n{gaps.BEGIN}\nold\n{gaps.END}\nafter\n")
    monkeypatch.setattr(gaps, "PAGE", page)
    monkeypatch.setattr(gaps, "FULL", 8)
    for name in ("SECONDS", "BLOCK"):
        monkeypatch.setattr(cookbook, name, 0.0)
    assert gaps.main("a processor") == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert all(title in text for title in gaps.TABLES) and "a processor" in text

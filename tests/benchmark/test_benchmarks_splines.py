"""The benchmark of splines on small volumes. Nothing here depends on time."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")
pytest.importorskip("skimage")

from benchmarks import cookbook, splines


@pytest.mark.parametrize("title", splines.TABLES)
def test_splines_that_are_timed_have_the_same_values(title):
    ways = splines.TABLES[title](9)
    splines.check(ways)
    assert list(ways)[-1].startswith("`tenter.")
    page = splines.PAGE.read_text()
    assert title in page and all(f"| {name} |" in page for name in ways)


def test_the_command_writes_its_page(tmp_path, monkeypatch):
    page = tmp_path / "splines.md"
    page.write_text(f"before\n{splines.BEGIN}\nold\n{splines.END}\nafter\n")
    monkeypatch.setattr(splines, "PAGE", page)
    monkeypatch.setattr(splines, "SIDE", 4)
    for name in ("SECONDS", "BLOCK"):
        monkeypatch.setattr(cookbook, name, 0.0)
    assert splines.main("a processor") == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert all(title in text for title in splines.TABLES) and "a processor" in text

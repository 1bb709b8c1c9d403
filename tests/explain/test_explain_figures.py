"""Figures and pages of `explain`: well-formed, in both themes, and those of the docs are what the library draws."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import tenter
from explained_calls import CALLS, explained
from roots import DOCS
from tenter.maps import _drawing

SVG = "{http://www.w3.org/2000/svg}"


def boxes(figure: ElementTree.Element) -> list[ElementTree.Element]:
    return [e for e in figure.iter(f"{SVG}rect") if e.get("fill") != "none"]


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
@pytest.mark.parametrize("name", CALLS)
def test_figures_are_well_formed(name, theme):
    figure = ElementTree.fromstring(explained(name).svg(theme=theme))
    width, height = (float(figure.get(side)) for side in ("width", "height"))
    assert figure.get("viewBox") == f"0 0 {width:g} {height:g}" and figure.find(f"{SVG}title").text
    style = figure.find(f"{SVG}style").text
    assert (_drawing.LIGHT.ink in style, _drawing.DARK.ink in style) == (theme != "dark", theme != "light")
    for e in figure.iter():
        for side, most in (("x", width), ("y", height)):
            if e.get(side) is not None and e.tag != f"{SVG}svg":
                assert 0 <= float(e.get(side)) <= most, (e.tag, e.attrib)
    for box in boxes(figure):
        assert float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) + float(box.get("height")) <= height
    # Only what a reader's system has, and no script.
    assert not re.search(r"href|<script|@import|url\(", explained(name).svg(theme=theme))


def test_figures_show_values_and_maps():
    figure = ElementTree.fromstring(explained("repeat_interleave_counts").svg())
    words = [e.text for e in figure.iter(f"{SVG}text")]
    assert words.count("3") == words.count("4") == 3 and "dim 0: each output reads" in words
    assert len(list(figure.iter(f"{SVG}path"))) == 6  # three of the map, three of its transpose
    by_value = {}
    for box, label in zip(boxes(figure), [e for e in figure.iter(f"{SVG}text") if e.get("text-anchor")]):
        by_value.setdefault(label.text, set()).add(box.get("fill"))
    assert len(by_value["3"] | by_value["4"]) == 1


def test_a_view_has_no_filled_cells_of_its_own():
    for name, hollow in (("expand", 6), ("tile", 0)):
        figure = ElementTree.fromstring(explained(name).svg())
        assert len([e for e in figure.iter(f"{SVG}rect") if e.get("stroke-width") == "2"]) == hollow


def test_themes_are_known():
    with pytest.raises(ValueError, match=r"theme: expected one of auto, light, dark, got 'blue'\n  in "):
        explained("tile").svg(theme="blue")


@pytest.mark.parametrize("name", CALLS)
def test_pages_are_well_formed(name):
    e = explained(name)
    page = e.html()
    body = ElementTree.fromstring(re.search("<body>.*</body>", page, re.S)[0])
    words = " ".join(body.itertext())
    assert page.startswith("<!DOCTYPE html>") and e.facts.call in words
    assert all(code in words for code in e.spellings.values()) and all(line in words for line in e.kernels)
    ElementTree.fromstring(f"<div>{e._repr_html_()}</div>")


def test_files_hold_what_is_returned(tmp_path):
    e = tenter.explain(tenter.tile, np.array(["<a&b>", '"'], object), 2)
    assert (tmp_path / "a.svg").write_text("") == 0
    assert e.svg(tmp_path / "a.svg", theme="dark") == (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert e.html(str(tmp_path / "a.html")) == (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "&lt;a&amp;b&gt;" in e.svg()


def test_the_figures_of_the_docs_are_what_is_drawn(tmp_path):
    """Changed on purpose? `python docs/explain_figures.py` draws them anew: look at them."""
    subprocess.run([sys.executable, DOCS / "explain_figures.py", tmp_path], check=True)
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_text() for path in (DOCS / "explain").iterdir()}
    page = (DOCS / "explain.md").read_text()
    assert all(f"explain/{name}" in page for name in drawn)

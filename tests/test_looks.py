"""What maps and lazy arrays show in terminals and notebooks."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import tenter
from cases import MAPS
from tenter import lazy
from tenter.maps import Copy, Window, _html


def parsed(html: str) -> list[ElementTree.Element]:
    """The page's elements; it must be well-formed."""
    return list(ElementTree.fromstring(f"<div>{html}</div>").iter())


def lines_of(m) -> set[tuple[int, int]]:
    """The (output, input) pairs that a drawing joins, by where the labels stand."""
    elements = parsed(_html.drawing(m))
    labels = [e for e in elements if e.tag.endswith("text") and e.text.isdigit()]
    top = min((float(e.get("y")) for e in labels), default=0)
    at = {(float(e.get("y")) == top, float(e.get("x"))): int(e.text) for e in labels}
    joins = [e for e in elements if e.tag.endswith("line")]
    return {(at[False, float(e.get("x2"))], at[True, float(e.get("x1"))]) for e in joins}


@pytest.mark.parametrize("case", MAPS, ids=lambda case: case.name)
def test_a_map_draws_its_matrix(case):
    m = case.map
    elements = parsed(m._repr_html_())
    assert any(type(m).__name__ == e.text for e in elements) and len(repr(m)) < 120
    if m.n_in and m.n_out:
        rows, columns = min(m.n_out, _html.MOST), min(m.n_in, _html.MOST)
        dense = m.dense()[:rows]
        stored = {(o, i) for o, i, _ in _html._entries(m, rows) if i < columns}
        assert {(o, i) for o, i in zip(*np.nonzero(dense)) if i < columns} <= stored
        assert lines_of(m) == stored
        for o, i, w in _html._entries(m, rows):
            assert dense[o, i] == w or [e[:2] for e in _html._entries(m, rows)].count((o, i)) > 1


def test_drawings_show_signs_and_sizes():
    lines = [e for e in parsed(_html.drawing(tenter.axis_map(8, 5, "cubic"))) if e.tag.endswith("line")]
    assert any(e.get("stroke-dasharray") for e in lines) and any(e.get("stroke-opacity") == "1.00" for e in lines)
    assert all(e.get("stroke") == "currentColor" for e in lines)  # which is seen on dark pages as well


def test_long_maps_are_drawn_and_shown_in_part():
    for m in (
        Copy.every(10**12, 1000),
        Copy.counts([10**9] * 100),
        tenter.axis_map(10**7, 10**8),
        Copy.cycle(5, 10**12),
    ):
        html = m._repr_html_()
        assert len(html) < 20_000 and "…" in html and len(repr(m)) < 160
        assert parsed(html)
    assert Copy.every(10**12, 1).reads(10**11, 10**11 + 2) == slice(10**11, 10**11 + 2)
    assert Copy.counts([10**9] * 100).reads(10**9 - 1, 10**9 + 1) == slice(0, 2)


def test_lazy_arrays_show_themselves():
    s = lazy.repeat_interleave(np.ones((3, 2), np.float32), [1, 3, 2], 0)
    assert repr(s) == str(s) == "LazyArray(float32[6, 2]; dim 0: Copy(3 -> 6: counts [1, 3, 2]))"
    assert repr(lazy.tile(torch.ones(2), 1)) == "LazyArray(float32[2]; no maps)"
    html = s._repr_html_()
    texts = [e.text for e in parsed(html) if e.text]
    assert (
        "float32[6, 2], 48 B" in texts and "float32[3, 2], 24 B, and 32 B of maps" in texts and html.count("<svg") == 1
    )
    big = lazy.resize(np.ones((3, 100, 100)), (10**4, 10**4), axes=(1, 2))
    assert "2.24 GiB" in big._repr_html_() and big._repr_html_().count("<svg") == 2


def test_html_is_escaped():
    assert "&lt;b&gt;" in _html.table("x", [("<b>", "<b>")])
    assert [_html.n_bytes(n) for n in (0, 1023, 1536, 1 << 21)] == ["0 B", "1023 B", "1.5 KiB", "2 MiB"]


def test_rows_of_windows_in_blocks():
    assert lines_of(Window(12, 8, [0, 2, 2, 4], [0, 2, 2, 5, 6], np.arange(6.0), block=2))

"""What maps and lazy arrays show in terminals and notebooks."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import torch

import tenter
from cases import MAPS
from sweeps import in_one_test, sampled
from tenter import lazy
from tenter.maps import Copy, Gather, Window, _drawing, _entries, _html


def parsed(html: str) -> list[ElementTree.Element]:
    """The page's elements; it must be well-formed."""
    return list(ElementTree.fromstring(f"<div>{html}</div>").iter())


def lines_of(m) -> set[tuple[int, int]]:
    """The (output, input) pairs that a drawing joins, by where the labels stand."""
    elements = parsed(_drawing.drawing(m))
    labels = [e for e in elements if e.tag.endswith("text") and e.text.isdigit()]
    top = min((float(e.get("y")) for e in labels), default=0)
    at = {(float(e.get("y")) == top, round(float(e.get("x")), 1)): int(e.text) for e in labels}
    ends = [re.findall(r"[-\d.]+", e.get("d")) for e in elements if e.tag.endswith("path")]
    return {(at[False, round(float(d[6]), 1)], at[True, round(float(d[0]), 1)]) for d in ends}


@in_one_test("case", sampled(MAPS, 6, lambda case: case.name))
def test_a_map_draws_its_matrix(case):
    m = case.map
    elements = parsed(m._repr_html_())
    assert any(type(m).__name__ == e.text for e in elements) and len(repr(m)) < 120
    if m.n_in and m.n_out:
        panel = _drawing.panel_of(m)
        dense = m.dense()[: panel.n_out]
        joined = {(o, i) for o, i, _ in panel.entries}
        assert {(o, i) for o, i in zip(*np.nonzero(dense)) if i < panel.n_in} <= joined
        assert lines_of(m) == joined
        for o, i, w in panel.entries:
            assert dense[o, i] == w or [e[:2] for e in panel.entries].count((o, i)) > 1
        assert max(panel.n_in, panel.n_out) <= _drawing.MOST
        if m.n_in <= _drawing.MOST >= m.n_out:
            assert (panel.n_in, panel.n_out) == (m.n_in, m.n_out)


@in_one_test("case", MAPS, lambda case: case.name)
def test_single_rows_are_those_of_the_matrix(case):
    m, dense = case.map, case.map.dense()
    for o in range(min(m.n_out, 20)):
        n, taps = _entries.row(m, o, m.n_in + 1)
        found = np.zeros(m.n_in)
        np.add.at(found, [i for i, _ in taps], [w for _, w in taps])
        assert n == len(taps) and np.array_equal(found, dense[o])
        assert _entries.row(m, o, 1).taps == taps[:1]


def test_drawings_show_signs_and_sizes():
    lines = [e for e in parsed(_drawing.drawing(tenter.axis_map(8, 5, "cubic"))) if e.tag.endswith("path")]
    assert any(e.get("stroke-dasharray") for e in lines) and len({e.get("stroke-width") for e in lines}) > 3


def test_drawings_have_colors_of_their_inputs():
    p = _drawing.panel_of(Copy.repeats([1, 0, 2]))
    assert p.results == [p.sources[0], p.sources[2], p.sources[2]] and len(set(p.sources)) == 3
    mixed = _drawing.panel_of(Gather(2, 2, [0, 2, 2], [0, 1], [0.5, 0.5]))
    assert mixed.results[1] is None and mixed.results[0] not in mixed.sources


def test_text_is_seen_on_light_and_dark_pages():
    """Contrast of 4.5, as the Web Content Accessibility Guidelines ask for."""

    def light(color):
        parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
        return sum(c * w for c, w in zip(parts, (0.2126, 0.7152, 0.0722)))

    def contrast(a, b):
        low, high = sorted((light(a), light(b)))
        return (high + 0.05) / (low + 0.05)

    def rgb(text):
        return tuple(int(text[k : k + 2], 16) for k in (1, 3, 5))

    for theme in (_drawing.LIGHT, _drawing.DARK):
        assert all(contrast(rgb(c), rgb(theme.card)) > 4.5 for c in (theme.ink, theme.soft))
    cells = [*_drawing.colors(6, False), *_drawing.colors(24, True), *_drawing.colors(3, True)]
    assert min(contrast(c, rgb(_drawing.on(c))) for c in cells) > 3  # bold enough: what is large may have 3


def test_long_maps_are_drawn_and_shown_in_part():
    for m in (
        Copy.repeat_each(10**12, 1000),
        Copy.repeats([10**9] * 100),
        tenter.axis_map(10**7, 10**8),
        Copy.tile(5, 10**12),
    ):
        html = m._repr_html_()
        assert len(html) < 20_000 and "…" in html and len(repr(m)) < 160
        assert parsed(html)
    assert Copy.repeat_each(10**12, 1).reads(10**11, 10**11 + 2) == slice(10**11, 10**11 + 2)
    assert Copy.repeats([10**9] * 100).reads(10**9 - 1, 10**9 + 1) == slice(0, 2)


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

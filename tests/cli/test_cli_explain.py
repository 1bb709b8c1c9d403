"""`tenter explain`: a call is read, never evaluated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tenter
from cli_helpers import (
    _inside as _inside,
    command,
    refused,
)
from tenter._explain import call_text
from tenter.cli.main import main

GOOD = {
    "repeat_interleave([[1,2],[3,4]], [1,2], dim=0)": (tenter.repeat_interleave, ([[1, 2], [3, 4]], [1, 2]), {"dim": 0}),
    " tenter.tile( (1, -2.5), 2)": (tenter.tile, ((1, -2.5), 2), {}),
    "expand(shape(1, 3), 4, -1)": (tenter.expand, (tenter.Shape(1, 3), 4, -1), {}),
    "repeat(np.zeros((2, 3)), 2, 2)": (tenter.repeat, (tenter.Shape(2, 3), 2, 2), {}),
    "resize(shape(8, 8, 3, dtype=np.uint8), (4, 4), axes=(0, 1), antialias=True)": (
        tenter.resize, (tenter.Shape(8, 8, 3, dtype="uint8"), (4, 4)), {"axes": (0, 1), "antialias": True}),
    'interpolate(zeros(1, 1, 4, dtype="float64"), scale_factor=+1.5, mode="linear", align_corners=None)': (
        tenter.interpolate, (tenter.Shape(1, 1, 4, dtype="float64"),), {"scale_factor": 1.5, "mode": "linear", "align_corners": None}),
    "numpy.repeat([1, 2], 2)": (tenter.numpy.repeat, ([1, 2], 2), {}),
    "tile(shape(100000, 100000), (1000, 10))": (tenter.tile, (tenter.Shape(10**5, 10**5), (1000, 10)), {}),
}  # fmt: skip


@pytest.mark.parametrize("call", GOOD)
def test_a_call_is_explained(call, capsys):
    operation, args, how = GOOD[call]
    assert main(["explain", call]) == 0
    assert capsys.readouterr().out == tenter.explain(operation, *args, **how).text() + "\n"


@pytest.mark.parametrize("call", GOOD)
def test_a_call_in_words_is_explained_in_python_too(call):
    operation, args, how = GOOD[call]
    assert tenter.explain(call).text() == tenter.explain(operation, *args, **how).text()


def test_names_in_words_have_the_values_that_are_given():
    x, counts = np.arange(6.0).reshape(2, 3), np.array([2, 1])
    told = tenter.explain("repeat_interleave(x, counts, dim=0)", x=x, counts=counts).text()
    assert told == tenter.explain(tenter.repeat_interleave, x, counts, dim=0).text()
    with pytest.raises(
        ValueError, match=r"call: expected a number, .* got x at column 8\n  in explain\('resize\(x, 3\)'\)"
    ):
        tenter.explain("resize(x, 3)")
    with pytest.raises(TypeError, match=r"args: expected values of a call by their names"):
        tenter.explain("resize(x, 3)", x)


BAD = {
    "": "CALL: expected a call, got what does not parse",
    "tile([1, 2": "CALL: expected a call, got what does not parse at column 6: '[' was never closed",
    "1 + 1": "CALL: expected a call such as tile([1, 2, 3], 2), got 1 + 1 at column 1",
    "tile": "CALL: expected a call such as tile([1, 2, 3], 2), got tile at column 1",
    "eval('1')": "got eval at column 1",
    "np.tile([1], 2)": "got np.tile at column 1",
    "__import__('os').system('true')": "got __import__('os').system at column 1",
    "(lambda x: tile)(1)": "got lambda x: tile at column 2",
    "tile(x, 2)": "CALL: expected a number, a string, a list, a tuple or shape(3, 4), got x at column 6",
    "tile([1, open('f')], 2)": "got open('f') at column 10",
    "tile([i for i in (1, 2)], 2)": "at column 6",
    "tile(f'{1}', 2)": "at column 6",
    "tile({1: 2}, 2)": "got {1: 2} at column 6",
    "tile(*[1], 2)": "got *[1] at column 6",
    "tile(**{'x': 1})": "arguments one by one, without **",
    "tile(1 if 2 else 3, 2)": "at column 6",
    "tile(not 1, 2)": "at column 6",
    "tile(-'a', 2)": "at column 6",
    "tile(2 ** 99999999, 2)": "got 2 ** 99999999 at column 6",
    "tile(shape(3, order='C'), 2)": "lengths and a dtype",
    "tile(shape(-3), 2)": "lengths: expected sizes that are ints >= 0, got -3",
    "tile(shape(3, dtype=strange), 2)": "dtype: expected a dtype",
    "repeat_interleave([1, 2], [1, -2])": "repeats: expected non-negative counts, got -2 at position 1",
    "repeat_interleave([1, 2], 2, axes=1)": "axes: expected no argument of this name",
    "tile([1], 2)\0": "CALL: expected a call",
    "tile(" + "[" * 150 + "]" * 150 + ", 2)": "",
    "tile(" + "[" * 100_000 + ", 2)": "CALL: expected a call, got what does not parse",
    "tile(" + "-" * 100_000 + "1, 2)": "CALL: expected",
    "tile([1], " + "9" * 5000 + ")": "CALL: expected a call, got what does not parse",
    "tile(shape(" + "9" * 30 + "), 2)": "lengths: expected",
}


@pytest.mark.parametrize("call", BAD, ids=lambda call: call[:40])
def test_what_is_no_call_is_refused_in_one_line(call, capsys):
    line = refused(capsys, "explain", call)
    assert BAD[call] in line and len(line) < 300


def test_too_long_a_call_is_refused(capsys):
    assert "at most 1,048,576 characters" in refused(
        capsys, "explain", "tile([" + "1," * (call_text.MOST // 2) + "], 2)"
    )


def test_files(capsys):
    call = "tile([1, 2, 3], 2)"
    assert main(["explain", call, "--svg", "a.svg", "--html", "a.html"]) == 0
    e = tenter.explain(tenter.tile, [1, 2, 3], 2)
    assert capsys.readouterr().out == ""
    assert (
        Path("a.svg").read_text(encoding="utf-8") == e.svg() and Path("a.html").read_text(encoding="utf-8") == e.html()
    )
    assert "a.svg: exists already" in refused(capsys, "explain", call, "--svg", "a.svg")
    assert main(["explain", "tile([1], 2)", "--svg", "a.svg", "--force"]) == 0
    assert Path("a.svg").read_text(encoding="utf-8") == tenter.explain(tenter.tile, [1], 2).svg()
    assert "does not exist" in refused(capsys, "explain", call, "--html", "nowhere/a.html")


def test_the_program_prints_what_a_terminal_can_show(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = command("explain", "tile([1, 2, 3], 2)")
    assert done.returncode == 0 and done.stdout.isascii() and "| 1 | 2 | 3 |" in done.stdout and done.stderr == ""
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_numbers_are_read_as_python_has_them():
    operation, values, named = call_text.read_call("tile([0x10, 1_000, 1e3, -2j, True], 2)")
    assert operation is tenter.tile and values == [[16, 1000, 1000.0, -2j, True], 2] and named == {}
    assert np.asarray(values[0]).shape == (5,)

"""`tenter.explain`: what it says is what the call does."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

import tenter
from explained_calls import CALLS, FOLDER, explained, text
from tenter import Shape, _explain, _native, lazy
from tenter._explain import kernels, terminal
from tenter._plans import plan as plans
from tenter.lazy import explanation
from tenter.maps import AxisMap

RNG = np.random.default_rng(0)
# Calls that are compared with what they do: an operation, x, and other arguments.
DONE = [
    (tenter.repeat_interleave, RNG.random((3, 4)), (2,), {"dim": 1}),
    (tenter.repeat_interleave, RNG.random((3, 4)), (2,), {}),
    (tenter.repeat_interleave, RNG.random((3, 4))[::-1, ::2], ([2, 0, 3],), {"dim": 0}),
    (tenter.repeat_interleave, RNG.random((3, 4)).T, (np.array([1, 0, 0, 4]),), {"axis": 0}),
    (tenter.repeat_interleave, np.float32(3), (4,), {}),
    (tenter.repeat_interleave, RNG.random((3, 4)), (np.array([2]),), {"dim": 1}),
    (tenter.repeat_interleave, RNG.random((3, 4)).T, (2,), {}),
    (tenter.resize, RNG.random((10, 6, 4))[:, ::2], (7,), {"axes": 0}),
    (tenter.resize, RNG.random((5, 4, 6)), ((3, 8),), {"axes": (0, 2)}),
    (tenter.resize, RNG.random((6, 4)), ((3, 6),), {"mode": ["nearest", "linear"]}),
    (tenter.repeat_interleave, np.zeros((0, 3)), (2,), {"dim": 0}),
    (tenter.repeat, RNG.random((2, 3)), (3, 1, 2), {}),
    (tenter.repeat, np.array(["a", "bcd"]), (2,), {}),
    (tenter.tile, RNG.random((2, 3)), (2,), {}),
    (tenter.tile, np.array([1, "x", None], object), ((2, 2),), {}),
    (tenter.tile, RNG.random((2, 3)), (0,), {}),
    (tenter.expand, RNG.random((1, 3)), (4, -1), {}),
    (tenter.expand, RNG.random((2, 1)), (5, 2, 3), {}),
    (tenter.expand, RNG.random((2, 3)), (2, 3), {}),
    (tenter.interpolate, RNG.random((1, 2, 5)), (8,), {}),
    (tenter.interpolate, RNG.random((1, 2, 5)), (3,), {"mode": "nearest-exact"}),
    (tenter.interpolate, RNG.random((2, 1, 5, 4)), (), {"scale_factor": 1.7, "mode": "bicubic"}),
    (tenter.interpolate, RNG.random((2, 1, 8, 9)).astype(np.float32), ((3, 4),), {"mode": "bilinear", "antialias": True}),
    (tenter.resize, RNG.random(7), (4,), {"mode": "area"}),
    (tenter.resize, RNG.random(8), (4,), {"mode": "linear", "edge": "wrap", "box": [(-3, 9)]}),
    (tenter.resize, RNG.random((6, 5)), ((3, 9),), {"box": [(5, 1), None]}),
    (tenter.resize, RNG.random(6), (9,), {"box": [(-2, 8)], "edge": "constant", "value": 7.0}),
    (tenter.resize, RNG.integers(0, 255, (8, 6, 3), np.uint8), ((4, 4),), {"axes": (0, 1), "like": "pillow"}),
    (tenter.resize, RNG.random((40, 3)), (3,), {"axes": 0, "antialias": False}),
    (tenter.resize, RNG.random((4, 4)), ((4, 4),), {}),
    (tenter.numpy.repeat, RNG.random((3, 4)), (2,), {"axis": 1}),
    (tenter.numpy.repeat, RNG.random((3, 4)), ([True, False, True],), {"axis": 0}),
    (tenter.numpy.repeat, RNG.random(3), ([np.uint64(1), 2, np.int32(0)],), {}),
    (tenter.numpy.repeat, RNG.random((0, 2)), ([],), {"axis": 0}),
    (tenter.numpy.tile, RNG.random((3, 4)), ((2, 1, 2),), {}),
]  # fmt: skip
IDS = [f"{k}-{case[0].__name__}" for k, case in enumerate(DONE)]


@pytest.mark.parametrize("name", CALLS)
def test_the_text_is_as_written(name):
    """Changed on purpose? `python tests/helpers/explained_calls.py` writes the files anew: look at them."""
    assert text(name) == (FOLDER / f"{name}.txt").read_text()


@pytest.mark.parametrize(("operation", "x", "args", "how"), DONE, ids=IDS)
def test_facts_are_those_of_the_call(operation, x, args, how):
    result, e = operation(x, *args, **how), tenter.explain(operation, x, *args, **how)
    assert e.shape_in == np.shape(x) and e.shape_out == result.shape
    assert e.is_view == np.shares_memory(x, result) or result.size == 0
    assert e.bytes_written == (0 if e.is_view else result.nbytes)
    lines = e.text().splitlines()
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)
    if x.dtype != object and x.dtype.kind == "f":
        assert np.allclose(
            applied(e, x), result if how.get("value") is None else operation(x, *args, **how | {"value": 0})
        )


def applied(e: tenter.Explanation, x):
    """The maps of an explanation, applied."""
    made = e.facts.made.x
    y = np.flip(x, made.flipped) if made.flipped else np.reshape(x, made.shape)
    for axis, m in e.maps:
        y = np.moveaxis(np.tensordot(m.dense(), y, ([1], [axis])), 0, axis)
    return y


@pytest.mark.parametrize(("operation", "x", "args", "how"), DONE, ids=IDS)
def test_bytes_read_are_those_that_matter(operation, x, args, how):
    """An input is read if some output changes with it, as none of these weights cancel."""
    e = tenter.explain(operation, x, *args, **how)
    if e.is_view or x.dtype.kind != "f" or not x.size:
        assert e.bytes_read == 0 or not e.is_view
        return
    read = sum(
        not np.array_equal(applied(e, probe), applied(e, np.zeros_like(probe)))
        for probe in np.eye(max(x.size, 1))[:, : x.size].reshape(-1, *x.shape)
    )
    assert e.facts.exact and e.bytes_read == read * x.itemsize


@pytest.mark.parametrize(("operation", "x", "args", "how"), DONE, ids=IDS)
def test_kernels_are_those_of_the_plan(operation, x, args, how):
    e = tenter.explain(operation, x, *args, **how)
    made = e.facts.made
    if e.is_view:
        assert len(e.kernels) == 1 and "view" in e.kernels[0]
        return
    steps = plans.plan(made.x, made.spec).steps
    if steps is None:
        assert e.kernels[0].startswith("NumPy's functions")
        return
    assert isinstance(steps, _native.HostPlan)
    kinds = [
        {"indexed_copy": "copy", "copy": "copy", "bytes": "bytes", "taps": "taps"}.get(name, "window")
        for name, *_ in steps.steps
    ]
    assert kinds == [k.split(",")[0] for k in e.kernels if ", as " in k and "thread" not in k]
    assert any("between the passes" in k for k in e.kernels) == bool(steps.scratch)


def parsed(line: str, n_in: int) -> np.ndarray:
    """The row of a matrix that a formula writes."""
    row = np.zeros(n_in)
    for sign, weight, at in re.findall(r"([-+]?) ?([\d.e-]*) ?\b(?:x|dy)\[(\d+)\]", line.partition("=")[2]):
        row[int(at)] += (-1 if sign == "-" else 1) * float(weight or 1)
    return row


@pytest.mark.parametrize(("operation", "x", "args", "how"), DONE, ids=IDS)
def test_rows_in_text_are_those_of_the_map_and_of_its_transpose(operation, x, args, how):
    for axis, m in tenter.explain(operation, x, *args, **how).maps:
        for found, result, source in ((m, "y", "x"), (m.T, "dx", "dy")):
            written = [line for line in terminal.sums(found, result, source) if "=" in line]
            assert f"{result}[{found.n_out - 1}] = " in "".join(written) or not found.n_out
            for line in written:
                o = int(re.findall(r"\[(\d+)\] =", line)[0])
                assert np.allclose(parsed(line, found.n_in), found.dense()[o], atol=2e-3, rtol=6e-3), line
        assert np.array_equal(m.T.dense(), m.dense().T)
        assert isinstance(m, AxisMap)
        if m.n_in and m.n_out:
            assert all(part in "\n".join(terminal.mapped(axis, m)) for part in (" y[0]", " dx[0]"))


WRONG = [
    (tenter.repeat_interleave, ([1, 2], [1, -2]), {}),
    (tenter.repeat_interleave, (np.ones(3), [1.5, 2, 3]), {}),
    (tenter.repeat_interleave, (np.ones((2, 3)), [1, 2]), {"dim": 1}),
    (tenter.repeat_interleave, (np.ones((2, 3)), [1, 2]), {}),
    (tenter.repeat_interleave, (np.ones((2, 3)), 2), {"dim": 4}),
    (tenter.repeat_interleave, (np.ones((2, 3)), 2), {"output_size": 7}),
    (tenter.repeat_interleave, (np.ones(3), 2**62), {}),
    (tenter.repeat_interleave, ("abc", 2), {}),
    (tenter.repeat_interleave, (), {}),
    (tenter.repeat_interleave, (np.ones(3), 2), {"axes": 1}),
    (tenter.repeat, (np.ones((2, 2)), 2), {}),
    (tenter.repeat, (np.ones((2, 2)), 2, 2), {"axis": 1}),
    (tenter.tile, (np.ones(3), (-1,)), {}),
    (tenter.tile, (np.ones(3), (2**40, 2**40)), {}),
    (tenter.expand, (np.ones(3), 4), {}),
    (tenter.interpolate, (np.ones((1, 1, 3)),), {}),
    (tenter.interpolate, (np.ones((1, 1, 3)), 4), {"mode": "cubik"}),
    (tenter.resize, (np.ones((4, 4, 4)), 2), {}),
    (tenter.resize, (np.ones(4), 2), {"edge": "constant", "value": "x"}),
]


@pytest.mark.parametrize(("operation", "args", "how"), WRONG)
def test_refused_calls_are_refused_as_by_the_operation(operation, args, how):
    with pytest.raises(Exception) as expected:
        operation(*args, **how)
    with pytest.raises(type(expected.value)) as got:
        tenter.explain(operation, *args, **how)
    assert str(got.value) == str(expected.value)
    assert len(str(got.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("operation", "args", "message"),
    [
        (tenter.numpy.repeat, ([1, 2], [1, -2]), r"repeats: expected non-negative counts.*\n  in numpy.repeat\("),
        (tenter.numpy.tile, ("abc", 2), r"A: expected an array or a list of numbers, got 'abc'\n  in numpy.tile\("),
        (np.repeat, ([1], 2), r"got numpy.repeat \(did you mean tenter.numpy.repeat\?\)\n  in explain\(numpy.repeat\)"),
        (torch.tile, ([1], 2), r"got torch.*tile \(did you mean tenter.tile\?\)"),
        (len, ([1],), r"operation: expected one of tenter's .*got builtins.len\n"),
        (3, (), r"operation: expected one of tenter's .*got 3\n"),
        (tenter.repeat_interleave, (Shape(3),), "repeats: .*a shape, which has no values"),
    ],
)  # fmt: skip
def test_what_cannot_be_explained_is_refused(operation, args, message):
    with pytest.raises((TypeError, ValueError), match=message):
        tenter.explain(operation, *args)


def test_shapes_say_what_they_cannot_be():
    assert Shape((3, 4)).lengths == Shape(3, 4).lengths == (3, 4) and Shape().lengths == ()
    assert Shape(2, dtype=np.uint8).dtype == Shape(2, dtype=torch.uint8).dtype == "uint8"
    assert Shape(2, dtype=torch.bfloat16).itemsize == 2
    for wrong in ((1.5,), ("a",), (True,)):
        with pytest.raises(TypeError, match=r"lengths: expected .*\n  in Shape\("):
            Shape(*wrong)
    with pytest.raises(ValueError, match=r"lengths: .* >= 0, got -1\n  in Shape\(-1"):
        Shape(-1)
    with pytest.raises(TypeError, match=r"dtype: .*got 'float31'\n  in Shape\("):
        Shape(3, dtype="float31")
    with pytest.raises(TypeError, match="x: expected an array"):  # for explain alone
        tenter.tile(Shape(3), 2)


def test_every_way_to_pass_x():
    shown = {str(tenter.explain(tenter.repeat_interleave, *args, **how).maps) for args, how in (
        (([1, 2], 2), {}), ((), {"x": [1, 2], "repeats": 2}), ((), {"input": [1, 2], "repeats": 2}),
        ((Shape(2), 2), {}), ((torch.tensor([1, 2]), 2), {}), (([1, 2], 2), {"out": np.empty(4)}),
    )}  # fmt: skip
    assert shown == {"((0, Copy(2 -> 4: o // 2)),)"}
    assert tenter.explain(tenter.repeat_interleave, repeats=[1, 2]).shape_out == (3,)
    for counts in ([], [np.uint64(1), 2], range(4), np.array([1, 2], np.int32), torch.tensor([3, 0])):
        e, result = tenter.explain(tenter.repeat_interleave, counts), tenter.repeat_interleave(counts)
        assert (e.shape_out, e.bytes_written) == (tuple(result.shape), np.asarray(result).nbytes)
    assert tenter.explain(tenter.numpy.tile, A=[1, 2], reps=2).shape_out == (4,)
    assert tenter.explain(tenter.numpy.repeat, a=[1, 2], repeats=2).shape_out == (4,)


@pytest.mark.parametrize("x", [
    torch.ones(3, 4), torch.ones(3, 4, requires_grad=True), torch.ones(3, 4, dtype=torch.bfloat16),
    torch.empty(3, 4, device="meta"), torch.ones(4, 3).T, torch.ones(3, 4, dtype=torch.complex64).conj(),
], ids=str)  # fmt: skip
def test_tensors(x):
    e = tenter.explain(tenter.repeat_interleave, x, torch.tensor([1, 0, 2]), 0)
    assert e.shape_out == (3, 4) and e.bytes_written == 12 * x.element_size() and "copy, as" in str(e) and e.svg()
    view = " ".join(tenter.explain(tenter.expand, torch.ones(1), 3).text().split())
    assert "read-only" not in view and "a write to one element shows in others" in view


def test_jax_arrays():
    jnp = pytest.importorskip("jax.numpy")
    e = tenter.explain(tenter.tile, jnp.ones((2, 2)), 2)
    assert e.shape_out == (2, 4) and e.kernels[0].startswith("copy")


HUGE = [
    (tenter.tile, (Shape(10**6, 10**6), (1000, 1)), {}),
    (tenter.repeat_interleave, (Shape(10**12), 1000), {}),
    (tenter.expand, (Shape(1, 10**9), 10**9, -1), {}),
    (tenter.resize, (Shape(10**12, dtype="uint8"), 10), {"mode": "area"}),
    (tenter.resize, (Shape(10**11), 10**12), {"mode": "nearest-exact"}),
    (tenter.resize, (Shape(10**9), 10**8), {}),
    (tenter.resize, (Shape(10**9), 10**8), {"edge": "wrap"}),
    (tenter.resize, (Shape(10**9), 10**8), {"like": "skimage", "antialias": True}),
    (tenter.resize, (Shape(10**4, 10**4, 10**4), (10**5,) * 3), {}),
]


@pytest.mark.parametrize(("operation", "args", "how"), HUGE)
def test_huge_results_are_explained_and_not_made(operation, args, how):
    e = tenter.explain(operation, *args, **how)
    assert len(e.text()) < 20_000 and len(e.svg()) < 60_000 and len(e.html()) < 80_000


def test_colors_are_for_terminals_that_want_them(monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    e = explained("tile")
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert str(e) == e.text() and "\x1b" not in str(e)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert str(e) == e.text(color=True) != e.text()
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert str(e) == repr(e) == e.text(color=True)
    assert re.sub("\x1b\\[[\\d;]*m", "", str(e)) == e.text()
    monkeypatch.setenv("TERM", "dumb")
    assert str(e) == e.text()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(e) == e.text()
    monkeypatch.setattr(Terminal, "encoding", "ascii")
    assert str(e).isascii() and "| 1 | 2 | 3 |" in str(e) and "->" not in str(e).splitlines()[5]


def test_lazy_arrays_are_explained():
    s = lazy.repeat_interleave(np.arange(3.0), [1, 3, 2])
    np.exp(s).sum()
    e = tenter.explain(s)
    for line in explanation.text(s._stretched, s._events).splitlines():
        assert line.strip() in " ".join(e.text().split())
    assert e.maps == ((0, s.maps[0]),) and e.bytes_written == 48 and not e.is_view and "exp: 3 elements" in e.text()
    assert tenter.explain(lazy.tile(torch.ones(2), 2)).shape_out == (4,) and e.spellings == {} and "<svg" in e.html()


def test_kernels_name_the_axes_they_run_along():
    """Two axes of one length share a map."""
    e = tenter.explain(tenter.resize, Shape(3, 64, 64, 2, 64), (32, 32, 16), axes=(1, 2, 4), mode="linear")
    found = [dim for line in e.kernels for dim in re.findall(r"dim (\d)", line)]
    assert e.maps[0][1] is e.maps[1][1] and sorted(found) == ["1", "2", "4"], e.kernels
    assert "dims 1, 2 at once" in tenter.explain(tenter.resize, Shape(3, 128, 128), (64, 64), axes=(1, 2)).kernels[0]
    assert kernels.HOW_COPIED.keys() < set(_native.WORDS["copy"])


@pytest.mark.parametrize("sizes, first", [((8, 60), "0"), ((60, 8), "2"), ((128, 60), "2"), ((60, 128), "0")])
def test_what_shrinks_most_is_summed_first(sizes, first):
    """Of axes that are apart: what is between the passes is small."""
    lines = tenter.explain(tenter.resize, Shape(64, 3, 64), sizes, axes=(0, 2)).kernels
    assert [dim for line in lines for dim in re.findall(r"dim (\d)", line)][0] == first


def test_explain_is_imported_when_asked_for():
    code = "import sys, tenter; assert not {'tenter._explain', 'tenter.maps._drawing'} & {*sys.modules}; tenter.explain; assert 'tenter._explain' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert tenter.explain is _explain.explain and {"explain", "Shape", "Explanation"} <= set(dir(tenter))

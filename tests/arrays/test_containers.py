"""Objects that hold an array: as counts all are taken; as x those without labels, and others say what to pass."""

from __future__ import annotations

import array
import subprocess
import sys

import numpy as np
import pytest
import torch

import tenter

COUNTS = [2, 0, 3]


class WithArray:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


class WithDlpack:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OnADevice:
    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`\nand more")


def counts():
    yield "range", range(3), [0, 1, 2]
    yield "range with a step", range(4, -1, -2), [4, 2, 0]
    yield "array.array", array.array("h", COUNTS), COUNTS
    yield "memoryview", memoryview(np.array(COUNTS, np.int32)), COUNTS
    yield "__array__", WithArray(COUNTS), COUNTS
    yield "__dlpack__", WithDlpack(np.array(COUNTS)), COUNTS
    pandas = pytest.importorskip("pandas")
    for kind in ("int64", "int8", "Int64"):
        yield f"Series of {kind}", pandas.Series(COUNTS, index=list("abc"), dtype=kind), COUNTS
    yield "Index", pandas.Index(COUNTS), COUNTS
    yield "RangeIndex", pandas.RangeIndex(3), [0, 1, 2]
    yield "array of pandas", pandas.array(COUNTS, dtype="Int64"), COUNTS
    for package, make in (("pyarrow", lambda p: p.array(COUNTS)), ("pyarrow", lambda p: p.chunked_array([COUNTS[:1], COUNTS[1:]])),
                          ("xarray", lambda x: x.DataArray(COUNTS)), ("zarr", lambda z: z.array(np.array(COUNTS)))):  # fmt: skip
        if package in sys.modules or _has(package):
            yield package, make(__import__(package)), COUNTS


def _has(package):
    try:
        __import__(package)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize(
    "x",
    [np.arange(6.0).reshape(3, 2), torch.arange(6.0).reshape(3, 2), [[1], [2], [3]]],
    ids=["array", "tensor", "list"],
)
def test_whatever_holds_an_array_is_taken_as_counts(x):
    for name, given, plain in counts():
        got, want = (tenter.repeat_interleave(x, c, 0) for c in (given, plain))
        assert type(got) is type(want) and np.array_equal(got, want), name
        assert np.array_equal(tenter.repeat_interleave(given), np.repeat(np.arange(3), plain)), name


def test_counts_of_a_series_under_a_transform():
    x = torch.arange(6.0).reshape(2, 3)
    got = torch.func.vmap(lambda v: tenter.repeat_interleave(v, WithArray(COUNTS), 0))(x)
    assert torch.equal(got, torch.repeat_interleave(x, torch.tensor(COUNTS), 1))


def bad_counts():
    yield (
        range(10**13),
        ValueError,
        "repeats: expected 3 counts, one per position of the flattened x .*, got 10000000000000",
    )
    yield range(2**65, 2**65 + 3), ValueError, "repeats: expected counts below 2"
    yield range(-3, 0), ValueError, "repeats: expected non-negative counts, got -3 at position 0"
    yield WithArray([1.5, 2, 3]), TypeError, "repeats: expected integer counts, got float64 with fractions"
    yield WithArray(["a", "b", "c"]), TypeError, "repeats: expected integer counts, got str"
    yield (
        WithArray(np.array([1, None, 2])),
        TypeError,
        "repeats: expected an array of numbers, got test_containers.WithArray of Python's objects",
    )
    yield (
        OnADevice(),
        TypeError,
        "repeats: expected an array that NumPy can read, got test_containers.OnADevice, which says: Implicit conversion .* use `.get..",
    )
    pandas = pytest.importorskip("pandas")
    yield (
        pandas.Series([1, None, 2], dtype="Int64"),
        TypeError,
        "repeats: expected integer counts, got float64 with fractions",
    )
    yield pandas.Series([True, False, True]), TypeError, "repeats: expected integer counts, got bool"
    yield pandas.DataFrame({"a": COUNTS}), ValueError, "repeats: expected 0-d or 1-D counts .*, got 2-D"


def test_bad_counts_in_a_container_are_refused_in_two_lines():
    for given, kind, message in bad_counts():
        with pytest.raises(kind, match=f"^{message}.*\n  in repeat_interleave\\(.*\\)$"):
            tenter.repeat_interleave(np.arange(3), given)


# ---- x


@pytest.mark.parametrize(
    "x", [WithArray([[1.0, 2], [3, 4]]), WithDlpack([[1.0, 2], [3, 4]])], ids=["__array__", "__dlpack__"]
)
def test_an_object_that_holds_an_array_is_that_array(x):
    y = np.array([[1.0, 2], [3, 4]])
    for call in (lambda v: tenter.repeat(v, 2, 1), lambda v: tenter.resize(v, (5, 5)), lambda v: tenter.tile(v, 2), lambda v: tenter.expand(v, 3, 2, 2),
                 lambda v: tenter.repeat_interleave(v, 2, 1), lambda v: tenter.image.resize(v, (3, 3)), lambda v: tenter.maps.Copy.repeat_each(2, 2).apply(v, 0)):  # fmt: skip
        assert np.array_equal(call(x), call(y))


def test_ranges_and_buffers_are_arrays():
    assert tenter.repeat(range(3), 2).tolist() == [0, 1, 2, 0, 1, 2]
    assert tenter.resize(array.array("d", [1, 3]), 2).tolist() == [1, 3]
    with pytest.raises(MemoryError, match=r"^x: expected at most the machine's"):
        tenter.repeat(range(10**14), 1)


def refused():
    yield [torch.ones(2), torch.ones(2)], r"one array \(torch.stack\(x\) makes one\)", "a list of torch.Tensor"
    yield ([[torch.tensor(1.0)]],), r"one array \(torch.stack\(x\) makes one\)", "a list of torch.Tensor"
    yield np.ma.array([1, 2]), "a NumPy array or a plain tensor", "a numpy.ma.MaskedArray, whose own rules"
    yield OnADevice(), "an array that NumPy can read", "test_containers.OnADevice, which says: Implicit"
    yield {"a": 1}, "an array, a tensor or a list of numbers", "dict"
    if _has("pandas"):
        pandas = __import__("pandas")
        yield (
            pandas.Series([1, 2]),
            r"np.asarray\(x\) without its labels \(for repeats, x.repeat\(counts\) keeps them\)",
            "pandas.Series",
        )
        yield (
            pandas.Index([1, 2]),
            r"np.asarray\(x\) without its labels \(for repeats, x.repeat\(counts\) keeps them\)",
            "pandas.Index",
        )
        yield pandas.DataFrame({"a": [1, 2]}), r"np.asarray\(x\) without its labels", "pandas.DataFrame"
        yield pandas.Timestamp("2020"), "an array, a tensor or a list of numbers", "pandas.Timestamp"
    quantity = type("Quantity", (), {"__module__": "pint", "__array__": lambda self: np.zeros(2)})
    yield quantity(), "x.magnitude, and its unit x.units beside it", "pint.Quantity"
    if _has("xarray"):
        xarray = __import__("xarray")
        yield (
            xarray.DataArray([1, 2], dims="t"),
            r"xarray.apply_ufunc\(f, x, input_core_dims=\[\['t'\]\], .*",
            "xarray.DataArray",
        )
        yield xarray.Dataset(), r"x.map\(f\), .*", "xarray.Dataset"
    if _has("PIL.Image"):
        yield (
            sys.modules["PIL.Image"].new("L", (2, 2)),
            r"np.asarray\(x\), or tenter.image.resize, which takes images",
            "PIL.Image.Image",
        )
    if _has("zarr"):
        yield (
            __import__("zarr").zeros(3),
            r"dask.array.from_zarr\(x\), .*, or x\[:\], which reads all of it",
            "zarr.Array",
        )


@pytest.mark.parametrize(
    "call, images",
    [
        (lambda x: tenter.repeat(x, 2), False),
        (lambda x: tenter.resize(x, 2), False),
        (lambda x: tenter.image.resize(x, 2), True),
    ],
)
def test_what_would_lose_its_labels_says_what_to_pass(call, images):
    for x, expected, got in refused():
        if images and "PIL" in got:
            continue
        if type(x) is np.ma.MaskedArray and "resize" in call.__code__.co_names and not images:
            continue  # resize obeys its mask
        with pytest.raises(TypeError, match=rf"^(x|pixels): expected {expected}, got {got}.*\n  in .*\)$"):
            call(x)


def test_the_line_for_xarray_does_it():
    xarray = pytest.importorskip("xarray")
    x = xarray.DataArray(np.arange(12.0).reshape(2, 3, 2), dims=("t", "y", "x"), coords={"t": [5, 7]})
    with pytest.raises(TypeError) as refusal:
        tenter.resize(x, 4)
    line = str(refusal.value).split("expected ")[1].split(", with f")[0]
    f = lambda v: tenter.resize(v, (2, 6, 4))
    assert np.array_equal(eval(line, {"xarray": xarray, "x": x, "f": f}), f(x.values))


def test_none_of_the_packages_is_imported():
    code = "import tenter, sys; tenter.repeat_interleave([1, 2], range(2)); assert not {'pandas', 'xarray', 'zarr', 'PIL', 'torch'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

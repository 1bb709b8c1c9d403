"""resize of every dtype, layout, instruction set and number of threads."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from test_kernels import layouts

import tenter
from cases import COMPLEX, FLOATS, INTEGERS, values
from sweeps import in_one_test
from tenter import _native

SUMS = ("linear", "cubic", "mitchell", "lanczos", "area")
TOLERANCE = {"float16": 2e-3, "float32": 4e-6, "float64": 1e-13, "complex64": 4e-6, "complex128": 1e-13}
# Ways to read past the edges and round corners.
OUTSIDE = [
    {}, {"edge": "wrap", "box": [(-9, 13)]}, {"edge": "reflect", "box": [(-9, 13)]}, {"box": [(5, 0)]},
    {"edge": "constant", "box": [(-3, 7)]}, {"edge": "constant", "box": [(7, -3)], "value": 1},
    {"edge": "extrapolate", "box": [(-3, 7)], "value": 1},
]  # fmt: skip


def chosen(n, m, how):
    """Which input each output of a nearest kind copies, -1 for none."""
    matrix = tenter.axis_map(n, m, **{k: v for k, v in how.items() if k not in ("value", "box")}, **forward(how, n))
    matrix = (
        matrix.dense()[:, ::-1] if how.get("box", [(0, 1)])[0][0] > how.get("box", [(0, 1)])[0][1] else matrix.dense()
    )
    assert set(matrix.ravel()) <= {0, 1}
    return np.where(matrix.any(1), matrix.argmax(1), -1)


def forward(how, n):
    """The box, as the array turned round has it."""
    if "box" not in how:
        return {}
    (begin, end) = how["box"][0]
    return {"box": [(begin, end) if begin < end else (n - begin, n - end)]}


@in_one_test("how", OUTSIDE, ids=str)
@in_one_test("mode", ["nearest", "nearest-exact"])
@in_one_test("dtype", [*INTEGERS, *FLOATS, *COMPLEX, "bool", "longdouble", ">i4", ">f8", "S3", "U2", "object", "M8[s]"])
def test_labels_are_copied(dtype, mode, how):
    """Bit for bit: the largest of integers, strings, objects, time."""
    x = values((5, 8), "uint64").view(np.uint64)
    if np.dtype(dtype).kind in "iu":
        x = values((5, 8), np.dtype(dtype).newbyteorder("=").name).astype(dtype)
        x[0], x[-1] = np.iinfo(dtype).max, np.iinfo(dtype).min
    elif dtype == "object":
        x = np.array([object() for _ in range(40)]).reshape(5, 8)
    else:
        x = values((5, 8), "int16").astype("int64").astype(dtype)
    if x.dtype.kind in "SUM" and how.get("value"):
        with pytest.raises(ValueError, match="value: expected a value of"):
            tenter.resize(x, 9, axes=0, mode=mode, **how)
        return
    got = tenter.resize(x, 9, axes=0, mode=mode, **how)
    index = chosen(5, 9, {"mode": mode, **how})
    want = np.full((9, 8), np.zeros((), x.dtype) if not how.get("value") else how["value"], x.dtype)
    want[index >= 0] = x[index[index >= 0]]
    assert got.dtype == x.dtype and np.array_equal(got, want)
    if dtype in (*INTEGERS, "bool", "float32", "complex64"):
        tensor = tenter.resize(torch.from_numpy(x), 9, axes=0, mode=mode, **how)
        assert tensor.dtype == torch.from_numpy(x).dtype and np.array_equal(tensor.numpy(), want)


@pytest.mark.parametrize("mode", SUMS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_are_rounded_once_and_saturated(dtype, mode):
    """Within half a unit of exact arithmetic, as far as the arithmetic goes: float32 for 16 bits, float64 for more."""
    info = np.iinfo(dtype)
    slack = Fraction(1, 100) if info.bits <= 16 else Fraction(1, 10**5) if info.bits == 32 else 2**12
    for n, m in ((7, 12), (12, 5), (4, 9)):
        x = values((n, 3), dtype, n)
        x[0], x[1] = info.max, info.min
        got = tenter.resize(x, m, axes=0, mode=mode)
        matrix = tenter.axis_map(n, m, mode).dense()
        for o, k in np.ndindex(m, 3):
            exact = sum(Fraction(w) * int(v) for w, v in zip(matrix[o], x[:, k]))
            exact = min(max(exact, info.min), info.max)
            assert abs(int(got[o, k]) - exact) <= Fraction(1, 2) + slack, (n, m, o, k)


def test_halves_go_to_the_even():
    for dtype in INTEGERS:
        x = np.array([0, 1, 2, 3, 4, 5, 6, 7], dtype)
        assert tenter.resize(x, 4, mode="area").tolist() == [0, 2, 4, 6]
        assert tenter.resize(torch.from_numpy(x), 4, mode="area").tolist() == [0, 2, 4, 6]


def test_integers_beside_a_value():
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        x = np.full(2, info.min, dtype)
        for make in (np.asarray, torch.from_numpy):
            got = tenter.resize(make(x), 4, box=[(-1, 3)], edge="constant", value=info.max, mode="linear")
            assert got.tolist() == [info.max, info.min, info.min, info.max]
            flat = tenter.resize(make(np.full(3, 100, dtype)), 6, edge="constant", value=100, mode="cubic")
            assert flat.tolist() == [100] * 6


@pytest.mark.parametrize("mode", SUMS)
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_sums_of_floats(dtype, mode):
    x = values((9, 7, 3), dtype)
    want = tenter.resize(x.astype(np.result_type(dtype, np.float64)), (5, 12), axes=(0, 1), mode=mode, antialias=None)
    for how in ({}, {"box": [(9, 0), (7, 0)]}):
        got = tenter.resize(x[::-1, ::-1] if how else x, (5, 12), axes=(0, 1), mode=mode, **how)
        assert got.dtype == x.dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE[dtype] * 4)


def test_sums_of_what_only_one_library_has():
    x = values((9, 7), "float64")
    want = tenter.resize(x, (5, 12), mode="cubic")
    for dtype in ("longdouble", "clongdouble", ">f8", ">c16"):
        got = tenter.resize(x.astype(dtype), (5, 12), mode="cubic")
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(np.asarray(got, complex), want, rtol=0, atol=1e-14)
    for dtype in (torch.bfloat16, torch.complex32):
        for how in ({}, {"edge": "constant", "value": 1.5, "box": [(-2, 9), (7, 0)]}):
            got = tenter.resize(torch.from_numpy(x).to(dtype), (5, 12), mode="cubic", **how)
            assert got.dtype == dtype
            near = tenter.resize(torch.from_numpy(x), (5, 12), mode="cubic", **how)
            torch.testing.assert_close(got.to(torch.complex128), near.to(torch.complex128), rtol=0, atol=0.05)


LAID_OUT = [
    {}, {"antialias": False}, {"mode": "cubic", "antialias": True}, {"edge": "wrap", "box": [(-2, 9), None]}, {"mode": "nearest"},
    {"edge": "constant", "value": 3, "box": [(-2, 9), None]}, {"edge": "extrapolate", "value": 3, "box": [(9, -2), None]},
    {"mode": "nearest", "edge": "constant", "value": 3, "box": [(9, -2), None]},
]  # fmt: skip


@pytest.mark.parametrize("how", LAID_OUT, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64", "complex128"])
def test_layouts(dtype, how):
    """The same whatever the strides, and inputs stay as they are; results lie as inputs do."""
    x = values((6, 7, 8), dtype)
    if dtype == "int64":
        x >>= 12  # which float64 holds
    for name, laid in layouts(x).items():
        for axes in ((0, 1), (1, 2), (2, 0)):
            before = laid.copy()
            got = tenter.resize(laid, (5, 9), axes=axes, **how)
            want = tenter.resize(np.ascontiguousarray(laid), (5, 9), axes=axes, **how)
            if np.dtype(dtype).kind in "iu":  # transposed, the axes are summed in another order
                assert np.abs(got.astype(np.int64) - want).max() <= (1 if dtype == "uint8" else 1 << 4)
            else:
                np.testing.assert_allclose(
                    got, want, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-6, err_msg=name
                )
            assert np.array_equal(laid, before)
            wide = how.get("antialias", how.get("mode") != "nearest" and how.get("edge") != "constant")
            cut = dtype == "uint8" and wide  # between the axes, so their order stays
            if name in ("contiguous", "fortran", "transposed", "negative") and not cut:
                assert np.argsort(np.abs(got.strides)).tolist() == np.argsort(np.abs(laid.strides)).tolist(), name


@pytest.mark.parametrize("how", LAID_OUT, ids=str)
def test_threads_and_instruction_sets(how):
    x = values((70, 90, 3), "float32")
    want = None
    for level in _native.testing.levels():
        assert _native.testing.force_level(level)
        try:
            results = []
            for threads in (1, 2, 3):
                tenter.set_num_threads(threads)
                results.append(tenter.resize(x, (150, 33), axes=(0, 1), **how))
        finally:
            tenter.set_num_threads(2)
            assert _native.testing.force_level("")
        assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
        want = results[0] if want is None else want
        np.testing.assert_allclose(results[0], want, rtol=0, atol=4e-6)


@pytest.mark.slow
def test_images_past_two_to_the_31():
    x = np.zeros((100, 100, 3), np.uint8)
    x[-1, -1] = 255
    for how in ({"mode": "nearest"}, {"mode": "linear"}, {"edge": "wrap", "mode": "nearest", "box": [(-1, 99), None]}):
        y = tenter.resize(x, (27_000, 27_000), axes=(0, 1), **how)
        assert y.size > 2**31
        assert (y[-1, -1] == (0 if "box" in how else 255)).all() and (y[0, 0] == 0).all()
        assert (y[0, -1] == (255 if "box" in how else 0)).all()
        del y


@pytest.mark.parametrize("mode", ["cubic", "lanczos"])
@pytest.mark.parametrize("like", ["pillow", "torch"])
def test_what_lies_between_two_axes_does_not_show(mode, like):
    """Overshoot is cut between the axes of 8-bit images, whether the axes are neighbors or not."""
    image = np.random.default_rng(0).integers(0, 2, (40, 50)).astype(np.uint8) * 255
    for size in ((30, 70), (70, 30), (20, 20), (90, 90)):
        want = tenter.resize(image, size, axes=(0, 1), mode=mode, like=like, antialias=True)
        for width in (1, 2, 3):
            apart = np.repeat(image[:, None], width, 1)
            for x in (apart, np.asfortranarray(apart), torch.from_numpy(apart)):
                got = np.asarray(tenter.resize(x, size, axes=(0, 2), mode=mode, like=like, antialias=True))
                np.testing.assert_array_equal(got, np.broadcast_to(want[:, None], got.shape))


def test_complex_arrays_have_any_number_of_dims():
    for ndim in range(1, 11):
        x = values((1,) * (ndim - 1) + (4,), "complex64")
        for _ in range(2):
            y = tenter.resize(x, 7, axes=-1)
            for part, of_x in ((y.real, x.real), (y.imag, x.imag)):
                np.testing.assert_array_equal(part, tenter.resize(of_x, 7, axes=-1))


def test_parts_of_complex_numbers_do_not_mix():
    """Infinity in one part leaves the other as it is, in either byte order."""
    x = np.array([complex(np.inf, 1), complex(2, -3), complex(3, np.nan), 4])
    want = [tenter.resize(part, 7) for part in (x.real.copy(), x.imag.copy())]
    for kind in ("<c16", ">c16", "<c8", ">c8", "G"):
        got = tenter.resize(x.astype(kind), 7)
        np.testing.assert_allclose(got.real.astype(float), want[0], rtol=1e-6)
        np.testing.assert_allclose(got.imag.astype(float), want[1], rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_rounded_once_at_a_constant_edge(dtype):
    x = torch.from_numpy(values((35, 5), "float32")).to(dtype)
    how = {
        "mode": ["lanczos5", "catmull-rom"],
        "like": "onnx",
        "edge": "constant",
        "align": "align_corners",
        "value": 0.25,
        "antialias": False,
    }
    exact = tenter.resize(x.double(), (8, 15), **how)
    got = tenter.resize(x, (8, 15), **how)
    assert ((got.double() - exact).abs() <= 0.501 * torch.finfo(dtype).eps * exact.abs().clamp(1e-3)).all()
    if dtype == torch.float16:
        assert np.array_equal(tenter.resize(x.numpy(), (8, 15), **how), got.numpy())


def test_a_gaussian_reads_the_edge_pixel_past_edges_that_extrapolate():
    for value in (0, 0.25):
        assert tenter.resize(np.full(7, 4.0), 1, like="skimage", edge="extrapolate", value=value).tolist() == [4.0]


def test_one_byte_floats_are_turned_round():
    x = torch.arange(6.0).to(torch.float8_e4m3fn)
    assert tenter.resize(x, 6, mode="nearest-exact", box=[(6, 0)]).float().tolist() == [5, 4, 3, 2, 1, 0]

"""Bad input: the type of the error, the argument named first, and the call shown, for every entry and array kind."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import tenter
from error_helpers import refused
from sweeps import in_one_test
from tenter._arrays.arguments import describe


class Row(NamedTuple):
    a: Any
    b: Any


X = np.zeros((2, 3), np.float32)
IMAGE = np.zeros((1, 2, 4, 5), np.float32)
NAN, INF = float("nan"), float("inf")
LYING = "an object that is no array"
# call, argument that the message starts with, type, words that it must hold
ERRORS = [
    (lambda f: tenter.repeat_interleave(f(X), [1, 2], dim=1), "repeats", ValueError, ["expected 3 counts", "dim 1", "got 2"]),
    (lambda f: tenter.repeat_interleave(f(X), [1, 2]), "repeats", ValueError, ["6 counts", "flattened"]),
    (lambda f: tenter.repeat_interleave(f(X), -1), "repeats", ValueError, [">= 0", "got -1"]),
    (lambda f: tenter.repeat_interleave(f(X), [1, -2, 3], 1), "repeats", ValueError, ["non-negative", "-2 at position 1"]),
    (lambda f: tenter.repeat_interleave(f(X), [2**62, 2**62, 1], 1), "repeats", ValueError, ["below 2**63"]),
    (lambda f: tenter.repeat_interleave(f(X), [2**64, 1, 1], 1), "repeats", ValueError, ["2**63"]),
    (lambda f: tenter.repeat_interleave(f(X), 2**62, 1), "repeats", ValueError, ["below 2**63"]),
    (lambda f: tenter.repeat_interleave(f(X), 2**80, 1), "repeats", ValueError, ["below 2**63"]),
    (lambda f: tenter.repeat_interleave(f(X), np.full(3, 2**63, np.uint64), 1), "repeats", ValueError, ["below 2**63"]),
    (lambda f: tenter.repeat_interleave(f(X), True), "repeats", TypeError, ["bool"]),
    (lambda f: tenter.repeat_interleave(f(X), [True, False, True], 1), "repeats", TypeError, ["bool"]),
    (lambda f: tenter.repeat_interleave(f(X), np.array([True]), 1), "repeats", TypeError, ["bool"]),
    (lambda f: tenter.repeat_interleave(f(X), 1.5), "repeats", TypeError, ["1.5"]),
    (lambda f: tenter.repeat_interleave(f(X), [1.0, 2.0, 3.0], 1), "repeats", TypeError, ["1.0"]),
    (lambda f: tenter.repeat_interleave(f(X), torch.tensor([1.0, 2, 3]), 1), "repeats", TypeError, ["float32"]),
    (lambda f: tenter.repeat_interleave(f(X), [[1, 2, 3]], 1), "repeats", ValueError, ["2-D"]),
    (lambda f: tenter.repeat_interleave(f(X), "3"), "repeats", TypeError, ["'3'"]),
    (lambda f: tenter.repeat_interleave(f(X), [1, [2]], 1), "repeats", ValueError, ["ragged"]),
    (lambda f: tenter.repeat_interleave(f(X), torch.zeros(3, dtype=torch.int64, device="meta"), 1), "repeats", TypeError, ["meta"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, dim=2), "dim", IndexError, ["from -2 to 1", "got 2"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, dim=-3), "dim", IndexError, ["got -3"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, dim=1.0), "dim", TypeError, ["1.0"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, dim=True), "dim", TypeError, ["bool"]),
    (lambda f: tenter.repeat_interleave(f(X), [1, 2, 3], 1, output_size=7), "output_size", ValueError, ["expected 6", "got 7"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, 1, output_size=0), "output_size", ValueError, ["expected 6", "got 0"]),
    (lambda f: tenter.repeat_interleave(f(X), 2, 1, output_size=6.0), "output_size", TypeError, ["6.0"]),
    (lambda f: tenter.repeat_interleave(f(np.array([-1, -1, 2])), output_size=0), "repeats", ValueError, ["-1 at position 0"]),
    (lambda f: tenter.repeat_interleave(f(np.array([1, 2])), output_size=2), "output_size", ValueError, ["expected 3"]),
    (lambda f: tenter.repeat_interleave(f(np.array([[1]]))), "repeats", ValueError, ["1-D"]),
    (lambda f: tenter.repeat_interleave(f(np.array(3))), "repeats", ValueError, ["1-D"]),
    (lambda f: tenter.repeat_interleave(f(np.array([1.0]))), "repeats", TypeError, ["float64"]),
    (lambda f: tenter.repeat_interleave(f(X), 2**40, 1), "result", MemoryError, ["GiB"]),
    (lambda f: tenter.repeat(f(X), 2), "sizes", ValueError, ["at least 2 numbers", "got 1"]),
    (lambda f: tenter.repeat(f(X)), "sizes", ValueError, ["got 0"]),
    (lambda f: tenter.repeat(f(X), 2, -1), "sizes", ValueError, [">= 0", "-1"]),
    (lambda f: tenter.repeat(f(X), 2, 1.5), "sizes", TypeError, ["1.5"]),
    (lambda f: tenter.repeat(f(X), (2, True)), "sizes", TypeError, ["bool"]),
    (lambda f: tenter.repeat(f(X), 2, axis=1), "axis", TypeError, ["numpy.repeat", "repeat_interleave"]),
    (lambda f: tenter.repeat(f(X), 2, dim=1), "dim", TypeError, ["repeat_interleave"]),
    (lambda f: tenter.repeat(f(X), 2, times=1), "times", TypeError, ["times"]),
    (lambda f: tenter.repeat(f(X), 2**40, 2**40), "sizes", MemoryError, ["2**63"]),
    (lambda f: tenter.repeat(f(X), 2**20, 2**20), "result", MemoryError, ["GiB"]),
    (lambda f: tenter.repeat(f(X), *[1] * 65), "sizes", ValueError, ["64 dims"]),
    (lambda f: tenter.repeat(f(X), 2**70, 2), "sizes", ValueError, ["2**63"]),
    (lambda f: tenter.tile(f(X), (2, -1)), "dims", ValueError, ["-1"]),
    (lambda f: tenter.tile(f(X), 1.5), "dims", TypeError, ["1.5"]),
    (lambda f: tenter.tile(f(X), "ab"), "dims", TypeError, ["'ab'"]),
    (lambda f: tenter.tile(f(X), (2**40, 2**40)), "dims", MemoryError, ["2**63"]),
    (lambda f: tenter.expand(f(X), 5, 3), "sizes", ValueError, ["length 1", "got 5"]),
    (lambda f: tenter.expand(f(X), 3), "sizes", ValueError, ["at least 2"]),
    (lambda f: tenter.expand(f(X), -1, 2, 3), "sizes", ValueError, ["new dim"]),
    (lambda f: tenter.expand(f(X), 2, -2), "sizes", ValueError, [">= -1"]),
    (lambda f: tenter.expand(f(X), 2**62, 2, 3), "sizes", MemoryError, ["2**63"]),
    (lambda f: tenter.interpolate(f(X), 4), "x", ValueError, ["batch, channels", "2 dims"]),
    (lambda f: tenter.interpolate(f(IMAGE)), "size", ValueError, ["neither"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, 2.0), "size", ValueError, ["not both"]),
    (lambda f: tenter.interpolate(f(IMAGE), 0), "size", ValueError, [">= 1", "0"]),
    (lambda f: tenter.interpolate(f(IMAGE), -3), "size", ValueError, ["-3"]),
    (lambda f: tenter.interpolate(f(IMAGE), (4, 5, 6)), "size", ValueError, ["2 values, one per spatial dim", "got 3"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4.0), "size", TypeError, ["4.0"]),
    (lambda f: tenter.interpolate(f(IMAGE), "4"), "size", TypeError, ["'4'"]),
    (lambda f: tenter.interpolate(f(IMAGE), 2**70), "size", ValueError, ["2**63"]),
    (lambda f: tenter.interpolate(f(IMAGE), 2**40), "size", MemoryError, ["2**63"]),
    (lambda f: tenter.interpolate(f(IMAGE), (2**20, 2**20)), "result", MemoryError, ["GiB"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=NAN), "scale_factor", ValueError, ["finite", "nan"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=INF), "scale_factor", ValueError, ["finite", "inf"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=-1.0), "scale_factor", ValueError, ["above 0"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=0), "scale_factor", ValueError, ["above 0"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=0.1), "scale_factor", ValueError, ["at least 1"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=1e300), "scale_factor", ValueError, ["2**63"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=(2.0,)), "scale_factor", ValueError, ["got 1"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor="2"), "scale_factor", TypeError, ["'2'"]),
    (lambda f: tenter.interpolate(f(IMAGE), scale_factor=True), "scale_factor", TypeError, ["True"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="cubic"), "mode", ValueError, ["bicubic", "'cubic'"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode=None), "mode", TypeError, ["None"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="linear"), "mode", ValueError, ["4-d"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="trilinear"), "mode", ValueError, ["4-d"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="nearest", align_corners=True), "align_corners", ValueError, ["no corners"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, recompute_scale_factor=True), "recompute_scale_factor", ValueError, ["scale_factor"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="area", antialias=True), "antialias", ValueError, ["'area'"]),
    (lambda f: tenter.interpolate(f(IMAGE), 4, mode="lanczos"), "antialias", ValueError, ["True"]),
    (lambda f: tenter.interpolate(f(IMAGE > 0), 4, mode="bilinear"), "x", TypeError, ["bool", "nearest"]),
    (lambda f: tenter.interpolate(f(np.zeros((1, 1, 0, 3))), 4), "x", ValueError, ["at least 1"]),
    (lambda f: tenter.maps.Copy.repeat_each(4, 2).apply(f(X), 1), "x", ValueError, ["length 4", "got 3"]),
    (lambda f: tenter.maps.Copy.repeat_each(3, 2).apply(f(X), 2), "axis", IndexError, ["got 2"]),
    (lambda f: tenter.maps.Copy.repeat_each(1, 3).T.apply(f(X > 0), 1), "x", TypeError, ["numbers", "bool"]),
]  # fmt: skip
NOT_ARRAYS = [None, "text", {1: 2}, object(), {3}, [[1], [2, 3]], lambda: 0, [object()]]


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_too_few_factors_are_refused_after_calls_by_one_number_too(kind):
    images = [kind(np.zeros((1, 2, n, 5), np.float32)) for n in range(4, 20)]
    for image in images[:8]:
        tenter.interpolate(image, scale_factor=2.0)
    for image in images:
        for factors in ((2.0,), [2.0]):
            refused(
                lambda image=image, factors=factors: tenter.interpolate(image, scale_factor=factors),
                "scale_factor", ValueError, ["got 1"],
            )  # fmt: skip


@in_one_test("kind", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@in_one_test("n", range(len(ERRORS)))
def test_errors(n, kind):
    call, argument, error, words = ERRORS[n]
    caught = refused(lambda: call(kind), argument, error, words)
    assert caught.__suppress_context__ or caught.__context__ is None


# No addresses: each process has its own, and tests need one name in all.
@pytest.mark.parametrize("x", NOT_ARRAYS, ids=lambda x: re.sub(" at 0x\\w+", "", repr(x)))
def test_what_is_no_array(x):
    for call in (
        lambda: tenter.repeat_interleave(x, 2),
        lambda: tenter.repeat(x, 2),
        lambda: tenter.tile(x, 2),
        lambda: tenter.expand(x, 2),
        lambda: tenter.interpolate(x, 2),
    ):
        with pytest.raises((TypeError, ValueError), match="x: expected"):
            call()


def test_the_message_of_the_specification():
    with pytest.raises(ValueError) as caught:
        tenter.repeat_interleave(X, np.array([1, 2]), dim=1)
    assert str(caught.value) == (
        "repeats: expected 3 counts, one per position of dim 1 (or one for all), got 2\n"
        "  in repeat_interleave(x: float32[2, 3], repeats: int64[2], dim=1)"
    )


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match=r"a numpy\.ma\.MaskedArray"):
        tenter.repeat_interleave(np.ma.array([1, 2], mask=[0, 1]), 2)
    assert tenter.numpy.repeat(np.ma.array([1, 2], mask=[0, 1]), 2).mask.tolist() == [False, False, True, True]


def test_unwritable_out_is_refused_before_any_work():
    m = tenter.maps.Copy.repeat_each(3, 2)
    frozen = np.zeros((2, 6))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="out: expected an array that can be written to, got a read-only array"):
        m.apply(np.zeros((2, 3)), 1, out=frozen)
    with pytest.raises(ValueError, match=r"out: expected .* requires grad"):
        m.apply(torch.zeros(2, 3), 1, out=torch.zeros(2, 6, requires_grad=True))
    x = torch.ones(2, 3, requires_grad=True)
    out = torch.zeros(2, 6)
    with pytest.raises(TypeError, match=r"out: expected None where a gradient is recorded, or x.detach\(\)"):
        m.apply(x, 1, out=out)
    assert (out == 0).all() and m.apply(x.detach(), 1, out=out) is out and (out == 1).all()


def test_bools_are_no_counts():
    for bad in ([True, 2, 1], np.array([True, False, True])):
        with pytest.raises(TypeError, match=r"repeats: expected integer counts.*bool"):
            tenter.repeat_interleave(np.zeros((2, 3)), bad, 1)


def test_lists_are_shown_as_python_writes_them_and_tensors_in_them_by_their_shape():
    for value in ([np.uint8(4), 3, "a"], (1,), (1, [2.5, None]), [], [(1, 2), (3,)]):
        assert describe(value) == repr(value)
    assert describe([torch.zeros(2, 3), 4]) == "[float32[2, 3], 4]"
    assert describe(list(range(100))) == repr(list(range(100)))[:57] + "..."


def test_dicts_and_named_tuples_are_shown_as_python_writes_them_and_tensors_in_them_by_their_shape():
    for value in ({"a": 3, 4: [None]}, {}, torch.Size([3, 4]), Row(3, "a"), [{"a": (1,)}]):
        assert describe(value) == repr(value)
    x = torch.zeros(2, 3)
    assert describe({"a": x, "b": [{"c": x}]}) == "{'a': float32[2, 3], 'b': [{'c': float32[2, 3]}]}"
    assert describe(Row(x, {"b": x})) == "Row(a=float32[2, 3], b={'b': float32[2, 3]})"
    assert describe(x.max(0)) == "max(float32[3], int64[3])"
    assert describe(pytest.importorskip("PIL.Image").new("RGB", (4, 3))) == "PIL.Image RGB[3, 4]"


def test_a_name_that_is_not_there_gets_the_closest_also_where_it_is_imported():
    with pytest.raises(ImportError, match=r"cannot import name 'resiz' from 'tenter' \(did you mean 'resize'\?\)"):
        exec("from tenter import resiz")
    with pytest.raises(AttributeError, match=r"module 'tenter' has no attribute 'resiz' \(did you mean 'resize'\?\)"):
        _ = tenter.resiz
    assert not hasattr(tenter, "resiz") and getattr(tenter, "resiz", 3) == 3

"""`out=` of ragged arrays: the bits of a fresh result, in memory that the caller gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
from memory_helpers import needs_linux
from out_helpers import rooms, values
from program_helpers import prints
from ragged_cases import HOW
from sweeps import sampled
from tenter import ragged
from tenter._execution import into

SOME = [2, 0, 3, 1, 0, 9, 1]
TOTAL, WIDTH = sum(SOME), max(SOME)
COUNTS = np.array([[2, 0, 1, 1, 0], [1, 1, 0, 5, 9], [0, 0, 0, 0, 0]])


def given(library, dtype, *shape):
    x = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    return x if library == "numpy" else torch.from_numpy(x)


# By lengths, for each of them: what is called, and of which arguments without an array.
INDICES = {
    "offsets": lambda n, **to: ragged.offsets(n, **to),
    "row_ids": lambda n, **to: ragged.row_ids(n, output_size=TOTAL, **to),
    "positions": lambda n, **to: ragged.positions(n, **to),
    "ranges": lambda n, **to: ragged.ranges(5, n, -2, **to),
    "ranges of each": lambda n, **to: ragged.ranges(n, n, n, **to),
    "mask": lambda n, **to: ragged.mask(n, **to),
    "wider mask": lambda n, **to: ragged.mask(n, 77, **to),
    "left mask": lambda n, **to: ragged.mask(n, 77, padding_side="left", **to),
    "lengths": lambda n, **to: ragged.lengths(ragged.offsets(n), **to),
    "plan": lambda n, **to: ragged.Plan(n).ranges(n, **to),
    "offsets of a plan": lambda n, **to: ragged.offsets(ragged.Plan(n), **to),
    "spans": lambda n, **to: ragged.spans_to_mask(n[:, None], n[:, None] + 2, 11, **to),
    "spans of rows": lambda n, **to: ragged.spans_to_mask(n[None, :6].reshape(1, 3, 2), n[None, :6].reshape(1, 3, 2) + 1, 12, **to),
}  # fmt: skip
KINDS = {
    "int64": np.array(SOME), "int32": np.array(SOME, np.int32), "uint8": np.array(SOME, np.uint8),
    "every other": np.repeat(SOME, 2)[::2], "torch int64": torch.tensor(SOME),
    "torch int32": torch.tensor(SOME, dtype=torch.int32),
}  # fmt: skip
ALONG = {
    "pad": lambda x, n, **to: ragged.pad(x, n, **to),
    "pad wider": lambda x, n, **to: ragged.pad(x, n, 12, value=3, **to),
    "unpad": lambda x, n, **to: ragged.unpad(x[: WIDTH * len(SOME)].reshape(len(SOME), WIDTH, *x.shape[1:]), n, **to),
    "pad on the left": lambda x, n, **to: ragged.pad(x[:TOTAL], n, 12, value=3, padding_side="left", **to),
    "unpad from the left": lambda x, n, **to: ragged.Plan(n).unpad(x[: WIDTH * len(SOME)].reshape(len(SOME), WIDTH, *x.shape[1:]), padding_side="left", **to),
    "repeat_padded": lambda x, n, **to: ragged.repeat_padded(x[:15].reshape(3, 5, *x.shape[1:]), COUNTS if isinstance(x, np.ndarray) else torch.from_numpy(COUNTS), value=1, **to),
    "plan": lambda x, n, **to: ragged.Plan(n).repeat(x[: len(SOME)], **to),
    "plan's pad": lambda x, n, **to: ragged.Plan(n).pad(x[:TOTAL], **to),
    "plan's sum": lambda x, n, **to: ragged.Plan(n).sum(x[:TOTAL], **to),
    **{name: lambda x, n, name=name, **to: getattr(ragged, f"segment_{name}")(x[:TOTAL], n, **to) for name in HOW},
    **{f"{name} along 1": lambda x, n, name=name, **to: getattr(ragged, f"segment_{name}")(x[:TOTAL].reshape(1, TOTAL, *x.shape[1:]), n, 1, **to) for name in HOW},
    **{f"{name} of several": lambda x, n, name=name, **to: getattr(ragged, f"segment_{name}")(x[: 2 * TOTAL].reshape(2, TOTAL, *x.shape[1:]), n, 1, **to) for name in HOW},
}  # fmt: skip
ALONG["pad"] = lambda x, n, **to: ragged.pad(x[:TOTAL], n, **to)
ALONG["pad wider"] = lambda x, n, **to: ragged.pad(x[:TOTAL], n, 12, value=3, **to)


@pytest.fixture(params=["by the core", "by Python"])
def way(request, monkeypatch):
    if request.param == "by Python":
        monkeypatch.setattr(into, "by_core", lambda write, out: None)


def same_bits_in_all_rooms(call, want):
    for kind, whole, out in rooms(want):
        around = values(whole)
        assert call(out) is out, kind
        assert values(out).tobytes() == values(want).tobytes(), kind
        if kind != "at an odd address":
            out[...] = (
                torch.tensor(77).to(out.dtype) if isinstance(out, torch.Tensor) else np.asarray(77).astype(out.dtype)
            )
            assert np.array_equal(values(whole), around), kind


@pytest.mark.parametrize(("name", "kind"), sampled(itertools.product(INDICES, KINDS), 4, str))
def test_indices_and_masks(name, kind, way):
    call, n = INDICES[name], KINDS[kind]
    same_bits_in_all_rooms(lambda out: call(n, out=out), call(n))


@pytest.mark.parametrize(("library", "dtype"), [("numpy", "float32"), ("numpy", "uint8"), ("torch", "float16"), ("torch", "float64")])  # fmt: skip
@pytest.mark.parametrize("name", sampled([n for n in ALONG if n != "repeat_padded"], 3))
def test_along_the_rows(library, dtype, name, way):
    call, n = ALONG[name], KINDS["int64" if library == "numpy" else "torch int64"]
    if dtype == "uint8" and any(how in name for how in ("mean", "softmax")):
        return
    for x in (
        given(library, dtype, 70),
        given(library, dtype, 70, 3),
        given(library, dtype, 70, 6)[:, ::2],
        given(library, dtype, 140)[::2],
    ):
        want = call(x, n)
        same_bits_in_all_rooms(lambda out: call(x, n, out=out), want)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_repeat_padded_has_two(library, way):
    call = ALONG["repeat_padded"]
    for x in (given(library, "float32", 70), given(library, "float32", 70, 6)[:, ::2]):
        want, lengths = call(x, None)
        for kind, _, out in rooms(want):
            sums = np.zeros(3, int) if library == "numpy" else torch.zeros(6, dtype=torch.int64)[::2]
            found = call(x, None, out=(out, sums))
            assert found[0] is out and found[1] is sums and sums.tolist() == lengths.tolist(), kind
            assert values(out).tobytes() == values(want).tobytes(), kind


@pytest.mark.parametrize("dtype", ["bfloat16", "bool", "complex64", "float8_e5m2"])
def test_dtypes_of_pytorch(dtype, way):
    x = torch.arange(40, dtype=torch.float32).to(getattr(torch, dtype)).reshape(20, 2)[:TOTAL]
    for call in (lambda **to: ragged.pad(x, SOME, **to), lambda **to: ragged.segment_max(x, SOME, **to),
                 lambda **to: ragged.segment_mean(x, SOME, **to), lambda **to: ragged.segment_softmax(x, SOME, **to)):  # fmt: skip
        try:
            want = call()
        except TypeError:
            continue
        for out in (torch.empty_like(want), want.new_empty((*want.shape[:-1], 2 * want.shape[-1]))[..., ::2]):
            got = call(out=out).clone(memory_format=torch.contiguous_format)
            assert torch.equal(got.view(torch.uint8), want.contiguous().view(torch.uint8))


def test_objects_text_and_bytes_the_other_way_round(way):
    for x in (
        np.array(list("abcdefghijklmnop"), object),
        np.array(list("abcdefghijklmnop")),
        np.arange(16).astype(">i4"),
    ):
        out = np.empty((7, 9), x.dtype)
        assert (ragged.pad(x, SOME, out=out) == ragged.pad(x, SOME)).all()
        assert (ragged.unpad(out, SOME, out=np.empty(16, x.dtype)) == x).all()
    x = np.arange(16).astype(">f4")
    for name in HOW:
        reduce = getattr(ragged, f"segment_{name}")
        want = reduce(x, SOME)
        assert (reduce(x, SOME, out=np.empty_like(want)) == want).all()


@pytest.mark.parametrize(("library", "dtype"), [("numpy", "float32"), ("numpy", ">i2"), ("torch", "uint8"), ("torch", "float64")])  # fmt: skip
def test_counts_and_flattened_arrays(library, dtype, way):
    x = given(library, dtype, 4, 5, 3)
    for one in (x, x.T if library == "numpy" else x.permute(2, 1, 0), x[:, ::2]):
        each = np.arange(one.size if library == "numpy" else one.numel()) % 4
        rows = torch.from_numpy(each)[: one.shape[1]] if library == "torch" else each[: one.shape[1]].astype(np.int32)
        for repeats, dim in ((3, None), (0, None), (each.tolist(), None), (rows, 1)):
            want = tenter.repeat_interleave(one, repeats, dim)
            same_bits_in_all_rooms(lambda out: tenter.repeat_interleave(one, repeats, dim, out=out), want)
    want = tenter.repeat_interleave(rows)
    same_bits_in_all_rooms(lambda out: tenter.repeat_interleave(rows, out=out), want)
    for bad, total in (([1, -1, 2], None), ([1, 2], None), ([1, 1, 2], 5)):
        out = np.full(4, 7.0)
        with pytest.raises(ValueError, match="expected"):
            tenter.repeat_interleave(np.arange(3.0), bad, output_size=total, out=out)
        assert out.tolist() == [7.0] * 4


@pytest.mark.parametrize("library", [np.asarray, torch.as_tensor])
def test_out_that_overlaps_what_is_read(library):
    n = library([1, 2, 0, 1])
    assert ragged.row_ids(n, out=n).tolist() == [0, 1, 1, 3] == n.tolist()
    memory = library(np.arange(20.0))
    want = ragged.segment_softmax(memory[2:18], SOME)
    assert ragged.segment_softmax(memory[2:18], SOME, out=memory[:16]).tolist() == want.tolist()
    plan = ragged.Plan(SOME)
    want = plan.pad(memory[:16]).tolist()
    memory = library(np.arange(100.0))
    memory[:16] = memory[:16] * 0 + library(np.asarray(plan.unpad(library(np.array(want)))))
    assert plan.pad(memory[:16], out=memory[:63].reshape(7, 9)).tolist() == want


REFUSED = {
    "another shape": (lambda: ragged.row_ids(SOME, out=np.full(15, 7)), ValueError),
    "another dtype": (lambda: ragged.row_ids(SOME, out=np.full(16, 7, np.int32)), TypeError),
    "another library": (lambda: ragged.row_ids(SOME, out=torch.full((16,), 7)), TypeError),
    "a list": (lambda: ragged.mask(SOME, out=[True]), TypeError),
    "read-only": (lambda: ragged.pad(np.arange(16), SOME, out=np.broadcast_to(7, (7, 9))), ValueError),
    "one of two": (lambda: ragged.repeat_padded(np.ones((3, 5)), COUNTS, out=np.ones((3, 16))), TypeError),
    "a gradient": (lambda: ragged.segment_sum(torch.ones(16, requires_grad=True), SOME, out=torch.ones(7)), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", ["segment_sum", "segment_mean", "segment_max", "segment_min", "segment_softmax"])
def test_rows_of_no_values(name):
    x = np.ones((3, 0))
    out = np.empty((3 if name == "segment_softmax" else 2, 0))
    assert getattr(ragged, name)(x, [1, 2], out=out) is out


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(kind):
    call, error = REFUSED[kind]
    with pytest.raises(error, match=r"^out: expected .*, got .*\n  in ragged\.\w+\(.*out"):
        call()


def test_bad_arguments_leave_out_as_it_is(way):
    bad = [*SOME[:-1], -1]
    for call, shape, dtype in (
        (lambda out: ragged.offsets(bad, out=out), 8, int), (lambda out: ragged.row_ids(bad, out=out), 15, int),
        (lambda out: ragged.offsets(SOME, output_size=9, out=out), 8, int), (lambda out: ragged.mask(SOME, 8, out=out), (7, 8), bool),
        (lambda out: ragged.ranges(2**31 - 3, np.array(SOME, np.int32), out=out), 16, np.int32),
        (lambda out: ragged.lengths([0, 2, 1, 5], out=out), 3, int),

        (lambda out: ragged.spans_to_mask([[1], [9]], [[2], [3]], 9, out=out), (2, 9), bool), (lambda out: ragged.pad(np.arange(15.0), SOME, out=out), (7, 9), float),
        (lambda out: ragged.segment_sum(np.arange(15.0), SOME, out=out), 7, float), (lambda out: ragged.unpad(np.ones((7, 8)), SOME, out=out), 16, float),
        (lambda out: ragged.repeat_padded(np.ones((1, 2)), [[1, -1]], out=(out, np.zeros(1, int))), (1, 2), float),
    ):  # fmt: skip
        out = np.full(shape, 7).astype(dtype)
        before = out.copy()
        with pytest.raises((TypeError, ValueError), match=r": expected .*, got .*\n  in ragged\."):
            call(out)
        assert np.array_equal(out, before)
    with pytest.raises(ValueError, match="-1 at position 6"):
        ragged.offsets(bad, out=np.zeros(8, int))


def test_in_compiled_code_and_under_modes():
    def f(x, n):
        out = torch.zeros(7)
        return ragged.segment_sum(x, n, out=out) + 1, out, ragged.offsets(n, out=torch.zeros(8, dtype=torch.int64))

    x, n = torch.arange(16.0), torch.tensor(SOME)
    for got, want in zip(torch.compile(f, fullgraph=True, backend="eager")(x, n), f(x, n)):
        assert torch.equal(got, want)


def test_a_file_in_memory(tmp_path):
    x = np.arange(16.0)
    out = np.memmap(tmp_path / "out", np.float64, "w+", shape=(7, 9))
    assert ragged.pad(x, SOME, out=out) is out
    out.flush()
    assert np.fromfile(tmp_path / "out").tobytes() == ragged.pad(x, SOME).tobytes()


@pytest.mark.slow
@needs_linux
@pytest.mark.parametrize("how", [(name, "all") for name in ("numpy", "torch")])  # fmt: skip
def test_where_there_is_no_memory_for_a_result(how):
    found, *failed = prints("without_room_ragged.py", *how).split("\n")[0].split(" ", 1)
    assert not failed and int(found) < 8

"""Calls as new users write them: what was meant is said, or done, for arrays and tensors, in eager and in compiled
code."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import torch

import tenter
import tenter.torch
from error_helpers import refused
from public_functions import functions
from roots import DOCS
from sweeps import in_one_test, sampled
from tenter import lazy, ragged
from tenter.ragged import Plan

MAKE = pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["array", "tensor"])
FIRST = np.zeros((3, 48, 64), np.float32)
LAST = np.zeros((48, 64, 3), np.float32)
VOLUME = np.zeros((20, 21, 22, 2), np.float32)
SIZE = (24, 32)
LENGTHS = [2, 0, 3]


def compiled_message(call, x):
    """The first line of the error of compiled code, whose graph ends where the error is."""
    try:
        with pytest.raises(TypeError) as caught:
            torch.compile(call, backend="eager")(x)
    finally:
        torch._dynamo.reset()  # which no longer follows a function that raised
    return str(caught.value).splitlines()[0]


# ---- channels


@MAKE
@pytest.mark.parametrize("channels", [1, 3, 4, 8])
def test_pictures_whose_channels_come_first_are_refused_with_the_calls_that_were_meant(make, channels):
    x = make(np.arange(channels * 48 * 64, dtype=np.float32).reshape(channels, 48, 64))
    more = {"alpha": False} if channels > 4 else {}
    refused(lambda: tenter.image.resize(x, SIZE), "x", ValueError, [f'layout="CHW"{", alpha=False" if more else ""})'])
    meant = tenter.image.resize(x, SIZE, layout="CHW", **({"alpha": False} | more))
    other = tenter.resize(x, SIZE, axes=(1, 2), mode="lanczos")
    assert tuple(meant.shape) == (channels, 24, 32) and np.array_equal(np.asarray(meant), np.asarray(other))
    if channels != 4:  # which may be alpha or not
        tenter.image.resize(x, SIZE, layout="CHW", **more)  # the call that is named


def test_what_may_be_a_picture_is_one():
    for shape in (
        (48, 64),
        (48, 64, 2),
        (48, 64, 3),
        (3, 64, 1),
        (3, 64, 3),
        (4, 64, 2),
        (3, 64, 2),
        (1, 1, 1),
        (48, 64, 0),
    ):
        assert tenter.image.resize(np.zeros(shape, np.uint8), SIZE).shape == (*SIZE, *shape[2:])
    for shape in ((48, 64, 8), (48, 64, 4), (3, 64, 9)):
        assert tenter.image.resize(np.zeros(shape, np.uint8), SIZE, alpha=False).shape == (*SIZE, shape[2])
        with pytest.raises(ValueError, match=r"^(x|alpha): expected"):
            tenter.image.resize(np.zeros(shape, np.uint8), SIZE)
    refused(
        lambda: tenter.image.resize(np.zeros((48, 64, 8)), (9, 9)),
        "x",
        ValueError,
        ["image.resize(x, (9, 9), alpha=False)"],
    )


@MAKE
@pytest.mark.parametrize(
    ("x", "size", "meant"),
    [
        (FIRST, SIZE, "a (C, H, W) image goes in as x[None]"),
        (LAST, SIZE, "an (H, W, C) image goes in as x.{turn}(2, 0, 1)[None]"),
        (LAST[..., 0], SIZE, "an (H, W) image goes in as x[None, None]"),
        (FIRST[None], (4, *SIZE), "a (C, D, H, W) volume goes in as x[None]"),
        (VOLUME, (4, *SIZE), "a (D, H, W, C) volume goes in as x.{turn}(3, 0, 1, 2)[None]"),
    ],
)
def test_images_without_a_batch_are_told_how_they_go_in(make, x, size, meant):
    meant, x = meant.format(turn="permute" if make is torch.as_tensor else "transpose"), make(x)
    for how in ({"size": size}, {"scale_factor": tuple(0.5 for _ in size)}):
        with pytest.raises(ValueError) as caught:
            tenter.interpolate(x, **how)
        assert meant in str(caught.value)
    batch = eval(meant.partition("as ")[2], {"x": x})
    assert tuple(tenter.interpolate(batch, size).shape[-len(size) :]) == size


# ---- names and positions

# call of x, argument that the message starts with, words
MISNAMED = [
    (lambda x: tenter.resize(x, scale_factor=2.0), "scale_factor", ["(did you mean scale=2.0?)"]),
    (lambda x: tenter.resize(x, SIZE, interpolation="cubic"), "interpolation", ["(did you mean mode='cubic'?)"]),
    (lambda x: tenter.resize(x, SIZE, interpolation=2), "interpolation", ["(did you mean mode=...?)"]),
    (lambda x: tenter.resize(x, SIZE, align_corners=True), "align_corners", ["(did you mean align='align_corners'?)"]),
    (lambda x: tenter.resize(x, dsize=(32, 24)), "dsize", ["(did you mean size=(24, 32)?)"]),
    (lambda x: tenter.resize(x, SIZE, axis=0), "axis", ["(did you mean axes=0?)"]),
    (lambda x: tenter.resize(x, SIZE, antialiase=True), "antialiase", ["(did you mean antialias=True?)"]),
    (lambda x: tenter.resize(x, SIZE, xyz=1), "xyz", ["no argument of this name, got 1"]),
    (lambda x: tenter.resize(x, SIZE, (0, 1)), "axes", ["by its name, axes=(0, 1)"]),
    (lambda x: tenter.resize(x, SIZE, "cubic"), "mode", ["by its name, mode='cubic'"]),
    (lambda x: tenter.resize(x, None, 0.5), "scale", ["by its name, scale=0.5"]),
    (lambda x: tenter.interpolate(x[None], SIZE, align_corner=True), "align_corner", ["(did you mean align_corners=True?)"]),
    (lambda x: tenter.interpolate(x[None], SIZE, "bilinear"), "scale_factor", ["(did you mean mode='bilinear'?)"]),
    (lambda x: tenter.interpolate(x[None], SIZE, interpolation="bilinear"), "interpolation", ["mode='bilinear'"]),
    (lambda x: tenter.repeat_interleave(x, 2, dims=0), "dims", ["(did you mean dim=0?)"]),
    (lambda x: tenter.repeat_interleave(x, 2, 0, 96), "output_size", ["by its name, output_size=96"]),
    (lambda x: tenter.tile(x, reps=2), "reps", ["(did you mean dims=2?)"]),
    (lambda x: tenter.expand(x, shape=(3, 3)), "shape", ["did you mean size=(3, 3)?"]),
    (lambda x: tenter.image.resize(x, SIZE, interpolation="cubic"), "interpolation", ["mode='cubic'"]),
    (lambda x: tenter.image.resize(x, SIZE, linear_ligth=True), "linear_ligth", ["(did you mean linear_light=True?)"]),
    (lambda x: tenter.image.resize(x, SIZE, (0, 1)), "axes", ["none, as an image has two"]),
    (lambda x: tenter.image.resize(x, SIZE, "cubic"), "mode", ["by its name, mode='cubic'"]),
    (lambda x: lazy.resize(x, SIZE, (0, 1)), "axes", ["by its name, axes=(0, 1)"]),
    (lambda x: lazy.repeat_interleave(x, 2, axis=0), "axis", ["(did you mean dim=0?)"]),
    (lambda x: lazy.repeat(x, 2, axis=0), "axis", ["repeat_interleave(x, repeats, dim)"]),
    (lambda x: ragged.segment_sum(x, [24, 24], dim=0), "dim", ["(did you mean axis=0?)"]),
    (lambda x: ragged.segment_sum(x, lenghts=[24, 24]), "lenghts", ["(did you mean lengths=[24, 24]?)"]),
    (lambda x: ragged.pad(x, [24, 24], fill_value=1), "fill_value", ["(did you mean value=1?)"]),
    (lambda x: ragged.pad(x, [24, 24], 24, -1), "value", ["by its name, value=-1"]),
    (lambda x: Plan([24, 24]).sum(x, dim=0), "dim", ["(did you mean axis=0?)"]),
]  # fmt: skip


@MAKE
@in_one_test("n", range(len(MISNAMED)))
def test_a_misnamed_argument_gets_our_error_and_the_one_that_was_meant(n, make):
    call, argument, words = MISNAMED[n]
    refused(lambda: call(make(LAST)), argument, TypeError, words)


@pytest.mark.parametrize("n", sampled([0, 8, 11, 14, 25], 5))
def test_and_so_in_compiled_code(n):
    call, argument, words = MISNAMED[n]
    message = compiled_message(call, torch.as_tensor(LAST))
    assert message.startswith(f"{argument}: expected") and all(w in message for w in words)


@pytest.mark.parametrize(("name", "f"), list(functions()), ids=[name for name, _ in functions()])
def test_every_function_of_arrays_refuses_an_unknown_name_in_our_form(name, f):
    required = [
        p
        for p in inspect.signature(f).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    given = [4] * len(required) if name == "axis_map" else [LENGTHS] * max(1, len(required))
    caught = refused(
        lambda: f(*given, nothing_like_it=5), "nothing_like_it", TypeError, ["of this name, got 5"], rf"{name}"
    )
    assert "nothing_like_it=5)" in str(caught)


def test_calls_that_are_right_are_not_touched():
    assert tenter.resize(x=LAST, size=SIZE, axes=(0, 1), out=np.empty((*SIZE, 3), np.float32)).shape == (*SIZE, 3)
    out = np.empty((96, 64, 3), np.float32)
    assert tenter.repeat_interleave(LAST, 2, 0, output_size=96, out=out) is out
    assert ragged.offsets(lengths=LENGTHS, output_size=5).tolist() == [0, 2, 2, 5]


# ---- accelerate


def test_accelerate_decorates_with_parentheses_and_without():
    def doubled(x):
        """Twice."""
        return torch.tile(x, (2,))

    before = tenter.torch.report().computed.get("tile", 0)
    for wrapped in (tenter.torch.accelerate(doubled), tenter.torch.accelerate()(doubled)):
        assert wrapped(torch.tensor([1, 2])).tolist() == [1, 2, 1, 2] and wrapped.__doc__ == "Twice."
    assert tenter.torch.report().computed["tile"] == before + 2

    class Model(torch.nn.Module):
        @tenter.torch.accelerate
        def forward(self, x):
            return x.tile(2)

    assert Model()(torch.ones(3)).shape == (6,) and tenter.torch.report().computed["tile"] == before + 3
    with tenter.torch.accelerate() as report:
        torch.tile(torch.ones(1), (2,))
    assert report.computed == {"tile": 1}


@pytest.mark.parametrize("what", [torch.nn.Linear(2, 2), torch.nn.Linear, 3], ids=["module", "class", "number"])
def test_what_accelerate_does_not_wrap_is_told_what_to_write(what):
    words = ["with tenter.torch.accelerate():", "tenter.torch.install()"]
    refused(lambda: tenter.torch.accelerate(what), "function", TypeError, words, "accelerate")
    assert torch.tile.__module__ != "tenter.torch.accelerate"


# ---- labels, axes by letters, functions as modes


@MAKE
def test_labels_of_pictures_are_picked(make):
    labels = make(np.random.default_rng(0).choice(np.array([0, 7, 1000, -(2**40)]), (9, 11)))
    for size in ((4, 5), (20, 30)):
        y = tenter.image.resize(labels, size, mode="nearest-exact")
        assert np.array_equal(y, tenter.resize(labels, size, mode="nearest-exact", like="pillow"))
        assert set(np.unique(np.asarray(y))) <= set(np.unique(np.asarray(labels)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "int16", "uint8", "float32"])
def test_explain_warns_of_labels_that_are_mixed(dtype):
    x = np.zeros((4, 4), dtype)
    warned = "for labels" in str(tenter.explain(tenter.resize, x, (2, 3)))
    assert warned is (dtype in ("int32", "int64"))
    assert "for labels" not in str(tenter.explain(tenter.resize, x, (2, 3), mode="nearest-exact"))


@MAKE
@pytest.mark.parametrize(
    ("shape", "axes", "word"),
    [((48, 64), "hw", "axes=(0, 1) for all"), ((4, 5, 6), "zyx", "axes=(0, 1, 2) for all"), ((48, 64, 3), "hw", "axes=(0, 1) if they are the first"),
     ((3, 48, 64), "y,x", "axes=(-2, -1) if they are the last"), ((48, 64, 3), ["h", "w"], "axes=(0, 1)"), ((48, 64, 3), "what?", "numbers")],
)  # fmt: skip
def test_letters_of_axes_get_their_numbers(make, shape, axes, word):
    x, n = make(np.zeros(shape)), len([a for a in axes if a != ","])
    refused(lambda: tenter.resize(x, (2,) * min(n, 3), axes=axes), "axes", TypeError, ["have no names", word])


@MAKE
def test_a_function_as_mode_is_told_of_filters(make):
    def triangle(v):
        return np.maximum(0.0, 1 - abs(v))

    x = make(np.arange(5.0))
    refused(lambda: tenter.resize(x, 9, mode=triangle), "mode", TypeError, ["tenter.filters.Filter(function, support)"])
    refused(lambda: tenter.resize(x, 9, mode="cubik"), "mode", ValueError, ["tenter.filters.Filter(function, support)"])
    assert np.allclose(tenter.resize(x, 9, mode=tenter.filters.Filter(triangle, 1)), tenter.resize(x, 9))


# ---- views, rows and sums


@MAKE
@pytest.mark.parametrize(("shape", "sizes"), [((), (0, -1)), ((), (-1, 0)), ((2,), (0, -1, 2)), ((2,), (-1, 0, 2))])
def test_a_new_dim_of_a_view_needs_a_size(make, shape, sizes):
    refused(
        lambda: tenter.expand(make(np.zeros(shape)), *sizes), "sizes", ValueError, ["a size for a new dim in front"]
    )


@MAKE
def test_views_without_elements_keep_lengths(make):
    assert tuple(tenter.expand(make(np.zeros((1, 3))), 0, -1).shape) == (0, 3)
    assert tuple(tenter.expand(make(np.zeros((0, 1))), -1, 3).shape) == (0, 3)


@MAKE
def test_rows_that_no_memory_holds_name_their_argument(make):
    ids = make(np.array([0, 2**62]))
    for call, argument in (
        (lambda: ragged.Plan.from_row_ids(ids).lengths, "row_ids"),
        (lambda: Plan.from_row_ids(ids), "row_ids"),
        (lambda: ragged.Plan.from_row_ids(ids[:1], 2**61).lengths, "n"),
        (lambda: ragged.Plan.from_row_ids(make(np.array([0, 2**40]))).lengths, "row_ids"),
    ):
        refused(call, argument, MemoryError, ["rows that fit in the machine's", "GiB", "rows, which take"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_sums_of_integers_saturate_below_64_bits_and_wrap_in_64(dtype):
    info = np.iinfo(dtype)
    for value in {info.max, info.min}:
        x = np.full((3, 2), value, dtype)
        exact = 3 * int(value)
        wrapped, cut = (exact - info.min) % 2**64 + info.min, min(max(exact, info.min), info.max)
        want = wrapped if info.bits == 64 else cut
        t = torch.from_numpy(x)
        found = {
            "array": ragged.segment_sum(x, [3]), "plan": Plan([3]).sum(x), "column": ragged.segment_sum(x[:, 0], [3])[:, None],
            "out": ragged.segment_sum(x, [3], out=np.empty((1, 2), dtype)),
            "lazy": ragged.segment_sum(lazy.repeat_interleave(x[:1], 3, 0), [3]),
            "tensor": ragged.segment_sum(t, [3]), "vmap": torch.vmap(lambda v: ragged.segment_sum(v, torch.tensor([3])))(t[None])[0],
        }  # fmt: skip
        assert {k: set(np.asarray(v).ravel().tolist()) for k, v in found.items()} == {way: {want} for way in found}


def test_the_pages_say_so():
    docs = DOCS
    numerics, page = (docs / "numerics.md").read_text(), (docs / "ragged.md").read_text()
    assert "| sums of segments, of integers | exact; saturated in 8, 16 and 32 bits, wrapped in 64 bits |" in numerics
    assert "in 64 bits it wraps" in page and "exact and saturated" not in page


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_arrays_that_a_plan_keeps_are_read_only(dtype):
    plan = Plan(np.array(LENGTHS, dtype))
    for get in (
        lambda: plan.lengths,
        lambda: plan.offsets,
        lambda: plan.row_ids,
        lambda: plan.positions,
        plan.mask,
        lambda: plan.mask(4),
    ):
        kept = get()
        assert get() is kept and not kept.flags.writeable and kept.copy().flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            kept[...] = 0
    assert pickle.loads(pickle.dumps(plan)).lengths.tolist() == LENGTHS
    for f in (ragged.offsets, ragged.row_ids, ragged.positions, ragged.mask):
        assert f(np.array(LENGTHS, dtype)).flags.writeable

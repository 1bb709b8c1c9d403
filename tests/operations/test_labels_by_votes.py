"""`labels=True`: labels are those whose resized one-hot arrays are largest."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

import tenter
from tenter import image
from tenter._execution import election

DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i2", ">u8")
MODES = ("linear", "cubic", "area", "spline3", "spline4", "lanczos", "bspline", "hamming", ["area", "cubic"] * 2)
HOW = (
    {}, {"antialias": False}, {"align": "align_corners"}, {"edge": "reflect"}, {"edge": "wrap"}, {"like": "torch"},
    {"like": "scipy"}, {"like": "opencv"}, {"edge": "constant", "value": 1}, {"edge": "constant"},
)  # fmt: skip


def labels_of(r, shape, dtype):
    """Labels in runs, as those of volumes are, with the smallest and the largest number of the dtype among them."""
    if dtype == "bool":
        return tenter.resize(r.integers(0, 2, [-(-n // 2) for n in shape]), shape, mode="nearest").astype(bool)
    ends = np.iinfo(dtype)
    known = np.array([ends.min, ends.max, *r.integers(0, 100, 3)], dtype)
    where = tenter.resize(r.integers(0, len(known), [-(-n // 2) for n in shape]), shape, mode="nearest")
    return known[where]


def check(x, y, size, **how):
    """y: what labels=True makes of x. Where labels differ by less than float32's rounding, either is right, unless the
    difference is that of float64: then they are equal, and the smaller one is."""
    value = how.pop("value", 0)
    reads_outside = how.get("edge") in ("constant", "extrapolate") or how.get("like") == "scipy"
    names = np.union1d(np.unique(x), np.asarray([value] if reads_outside else [], x.dtype))
    votes = np.stack([tenter.resize((x == name).astype(np.float64), size, **how) for name in names])
    if reads_outside:
        votes[list(names).index(value)] += 1 - tenter.resize(np.ones(x.shape), size, **how)
    most = votes.max(0)
    found = np.searchsorted(names, y)
    assert y.dtype == x.dtype and np.array_equal(names[found.reshape(-1)].reshape(y.shape), y)
    assert (np.take_along_axis(votes, found[None], 0)[0] >= most - 2 * election.TIE).all()
    equal = votes >= most - 1e-9
    is_clear = (equal == (votes >= most - 2 * election.TIE)).all(0)
    assert is_clear.mean() > 0.95
    assert np.array_equal(y[is_clear], names[equal.argmax(0)][is_clear])


def cases(n, seed):
    r = np.random.default_rng(seed)
    for k, (mode, how) in zip(range(n), product(MODES, HOW)):
        ndim = (k % 4 + 1) if isinstance(mode, str) else 4
        shape = tuple(r.integers(3, (40, 14, 9, 6)[ndim - 1], ndim).tolist())
        size = tuple(r.integers(1, (60, 20, 12, 9)[ndim - 1], ndim).tolist())
        plain = mode in ("linear", "cubic")
        if "like" in how and not (
            (plain and ndim < 4) or (how["like"] == "scipy" and (plain or mode in ("spline3", "spline4")))
        ):
            how = {}
        yield mode, how, shape, size, DTYPES[k % len(DTYPES)]


def test_labels_are_the_largest_of_resized_one_hot_arrays():
    for k, (mode, how, shape, size, dtype) in enumerate(cases(len(MODES) * len(HOW), 0)):
        x = labels_of(np.random.default_rng(k), shape, dtype)
        check(x, tenter.resize(x, size, axes=range(len(shape)), mode=mode, labels=True, **how), size, mode=mode, **how)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 20))
def test_labels_of_random_calls_are_the_largest_of_resized_one_hot_arrays(seed):
    for k, (mode, how, shape, size, _dtype) in enumerate(cases(len(MODES) * len(HOW), seed)):
        x = labels_of(np.random.default_rng(k + 1000 * seed), shape, DTYPES[(k + seed) % len(DTYPES)])
        check(x, tenter.resize(x, size, axes=range(len(shape)), mode=mode, labels=True, **how), size, mode=mode, **how)


def test_of_equal_votes_the_smallest_label_wins():
    for x, n, mode, want in [
        ([2, 1], 1, "area", [1]), ([1, 2], 1, "area", [1]), ([3, -3, 3, -3], 1, "linear", [-3]),
        ([7, 7, 0, 0, 5, 5], 1, "area", [0]), ([7, 0, 7, 9, 0, 9], 1, "area", [0]), ([5, 1], 3, "linear", [5, 1, 1]),
        ([1, 5], 3, "linear", [1, 1, 5]), ([True, False], 1, "area", [False]), ([4, 2, 4], 1, "area", [4]),
    ]:  # fmt: skip
        assert tenter.resize(np.array(x), n, mode=mode, labels=True).tolist() == want
    x = np.indices((6, 10)).sum(0) % 5  # a third, a fifth: not exact in binary
    assert not tenter.resize(x, (2, 2), mode="area", labels=True).any()


@pytest.mark.parametrize("factors", [(2, 2, 2), (1, 3, 2), (4, 1, 4)])
def test_cells_of_many_labels_have_the_most_frequent_as_cells_of_few(monkeypatch, factors):
    x = np.random.default_rng(0).integers(-30, 30, (24, 24, 24), np.int8)
    y = tenter.resize(x, [n // f for n, f in zip(x.shape, factors)], mode="area", labels=True)
    for z, row, column in np.ndindex(y.shape):
        cell = x[tuple(slice(k * f, (k + 1) * f) for k, f in zip((z, row, column), factors))]
        names, votes = np.unique(cell, return_counts=True)
        assert y[z, row, column] == names[votes.argmax()]
    monkeypatch.setattr(election, "SORTED", 1000)
    assert np.array_equal(tenter.resize(x, y.shape, mode="area", labels=True), y)


def test_labels_outside_have_the_value():
    x = np.array([3, 3, 7], np.int16)
    for edge, value, want in [
        ("constant", 5, [5, 5, 5, 3, 3, 7, 5, 5, 5]), ("constant", 0, [0, 0, 0, 3, 3, 7, 0, 0, 0]),
        ("extrapolate", -9, [-9, -9, -9, 3, 3, 7, -9, -9, -9]), ("replicate", 0, [3, 3, 3, 3, 3, 7, 7, 7, 7]),
    ]:  # fmt: skip
        how = {"box": [(-3, 6)], "edge": edge, "value": value}
        assert tenter.resize(x, 9, labels=True, **how).tolist() == want
        assert tenter.resize(x, 9, labels=True, mode="nearest-exact", **how).tolist() == want
    assert tenter.resize(x, 3, box=[(3, 0)], labels=True).tolist() == [7, 3, 3]


def test_blocks_strides_and_libraries_give_the_same_labels(monkeypatch):
    torch, da = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    jnp, xp = pytest.importorskip("jax.numpy"), pytest.importorskip("array_api_strict")
    x = labels_of(np.random.default_rng(0), (9, 12, 11), "int32")
    for how in ({}, {"mode": "spline3"}, {"mode": "cubic", "edge": "wrap"}, {"edge": "constant", "value": 3}):
        for size in ((15, 6, 11), (9, 20, 25)):
            y = tenter.resize(x, size, labels=True, **how)
            with monkeypatch.context() as small:
                small.setattr(election, "BLOCK", 1 << 9)
                small.setattr(election, "LARGE", 1 << 10)
                small.setattr(election, "FEW", 3)
                small.setattr(election, "LEAST", 1 << 8)
                assert np.array_equal(tenter.resize(x, size, labels=True, **how), y)
            turned = np.asfortranarray(x)
            made = tenter.resize(turned, size, labels=True, **how)
            assert np.array_equal(made, y) and made.flags.f_contiguous
            wide = np.repeat(x, 2, 1)[:, ::-2][:, ::-1]
            assert np.array_equal(tenter.resize(wide, size, labels=True, **how), y)
            for give, read in [
                (torch.from_numpy, np.asarray), (jnp.asarray, np.asarray), (xp.asarray, np.asarray),
                (lambda x: da.from_array(x, chunks=(5, 12, 11)), lambda y: y.compute()),
            ]:  # fmt: skip
                made = tenter.resize(give(x), size, labels=True, **how)
                assert type(made) is type(give(x)) and np.array_equal(read(made), y)


def test_labels_are_written_to_out():
    torch = pytest.importorskip("torch")
    x = labels_of(np.random.default_rng(0), (12, 13), "uint8")
    y = tenter.resize(x, (20, 9), labels=True)
    for make in (np.asarray, torch.from_numpy):
        for out in (np.zeros((20, 9), np.uint8), np.zeros((9, 20), np.uint8).T, np.zeros((20, 18), np.uint8)[:, ::2]):
            given = make(out)
            assert tenter.resize(make(x), (20, 9), labels=True, out=given) is given
            assert np.array_equal(out, y)
    held = np.zeros((20, 13), np.uint8)
    held[:12] = x
    tenter.resize(held[:12], (20, 13), labels=True, out=held)  # x is read before it is overwritten
    assert np.array_equal(held, tenter.resize(x, (20, 13), labels=True))


def test_one_hot_arrays_are_made_for_a_block_at_a_time(monkeypatch):
    monkeypatch.setattr(election, "BLOCK", 1 << 12)
    x = labels_of(np.random.default_rng(0), (60, 60, 60), "int64")
    maps = {axis: tenter.resampling.axis_map(60, n) for axis, n in enumerate((90, 90, 30))}
    tenter.resize(x, (90, 90, 30), labels=True)
    y = np.empty((90, 90, 30), np.int64)
    tracemalloc.start()
    election.elect(x, maps, maps, None, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < election.temporary_bytes(maps, x.shape, y.shape, 8) + (1 << 18)


def test_images_of_labels_have_no_alpha():
    Image = pytest.importorskip("PIL.Image")
    x = labels_of(np.random.default_rng(0), (12, 16, 4), "uint8")
    y = tenter.resize(x, (7, 20), axes=(0, 1), labels=True)
    assert np.array_equal(image.resize(x, (7, 20), labels=True), y)
    assert np.array_equal(image.resize(x.transpose(2, 0, 1), (7, 20), layout="CHW", labels=True), y.transpose(2, 0, 1))
    assert np.array_equal(image.resize([x, x], (7, 20), labels=True)[1], y)
    for mode in ("P", "L", "I;16"):
        one = x[..., 0].astype("u2" if mode == "I;16" else "u1")
        shown = Image.frombytes(mode, (16, 12), one.tobytes())
        made = image.resize(shown, (7, 20), labels=True)
        assert made.mode == mode
        assert np.array_equal(np.asarray(made), tenter.resize(one, (7, 20), labels=True))


def test_what_holds_no_labels_that_can_be_read_is_refused():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = np.array([1, 1, 2])
    for call, words in [
        (lambda: tenter.resize(x / 2, 5, labels=True), "x: expected integers or bools with labels=True, got float64"),
        (lambda: tenter.resize(x * 1j, 5, labels=True), "expected integers or bools"),
        (lambda: tenter.resize(x.astype(object), 5, labels=True), "expected integers or bools"),
        (lambda: tenter.resize(x, 5, labels="majority"), "labels: expected a bool, got 'majority'"),
        (lambda: tenter.resize(x, 5, labels=1), "labels: expected a bool, got 1"),
        (lambda: tenter.resize(x, 5, labels=True, value=1), "value: expected 0, unless edge is constant"),
        (lambda: tenter.resize(x, 5, labels=True, value=0.5, edge="constant"), "value: expected a value of int64"),
        (lambda: tenter.resize(x, 5, labels=True, out=np.zeros(5)), "out: expected"),
        (lambda: jax.jit(lambda x: tenter.resize(x, 5, labels=True))(x), "labels that the host can read"),
        (lambda: torch.vmap(lambda x: tenter.resize(x, 5, labels=True))(torch.ones(2, 3, dtype=int)), "the host can read"),
        (lambda: tenter.axis_map(3, 5, labels=True), "labels: expected no argument of this name"),
        (lambda: tenter.lazy.resize(x, 5, labels=True), "labels: expected none, as a lazy array"),
        (lambda: tenter.lazy.resize(x, 5, out=x), "out: expected none, as a lazy array"),
        (lambda: tenter.explain(tenter.resize, x, 5, labels=True), "labels: expected False for explain"),
        (lambda: image.resize(np.ones((3, 3)), (2, 2), labels=True), "expected integers or bools"),
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError)) as raised:
            call()
        assert words in str(raised.value)
    assert tenter.resize(x, 5, labels=np.True_).tolist() == tenter.resize(x, 5, labels=True).tolist()
    assert tenter.resize(x / 2, 3, labels=True, mode="nearest-exact").tolist() == [0.5, 0.5, 1]


@pytest.mark.slow
@pytest.mark.parametrize("fullgraph", [False, True])
def test_compiled_code_calls_labels_as_they_are(fullgraph):
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    x = torch.tensor([1, 1, 2])
    f = torch.compile(lambda x: tenter.resize(x + 1, 5, labels=True), fullgraph=fullgraph, backend="eager")
    if fullgraph:
        with pytest.raises(Exception, match="labels: expected code without fullgraph"):
            f(x)
    else:
        assert torch.equal(f(x), tenter.resize(x + 1, 5, labels=True))

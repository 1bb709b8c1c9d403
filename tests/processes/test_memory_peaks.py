"""How much memory calls take beside their input and their result: each in a fresh process, tens of MiB, peak resident
memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
import tenter.torch
from memory_helpers import needs_linux
from program_helpers import prints
from sweeps import sampled
from tenter import _native
from tenter._arrays import limits
from tenter._execution import chunks
from tenter._rules.axis_rule import PERIODIC
from tenter.conventions import Convention
from tenter.maps import Gather

# MiB: of what the call is given and makes.
SIZES = {
    "wrap thumbnail": 16, "wrap few": 16, "wrap half": 20, "wrap thrice": 40, "reflect outside": 8, "wrap gaussian": 20,
    "alpha half": 20, "alpha thumbnail": 16, "alpha twice": 20, "light half": 15, "light twice": 20, "alpha wrap": 20,
    "constant half": 15, "constant twice": 20, "extrapolated": 20, "nearest constant": 20, "narrow counts": 16,
}  # fmt: skip


@needs_linux
@pytest.mark.parametrize("library", sampled(["numpy", "torch"], 2))
def test_few_times_what_is_given_and_made(library):
    peaks = map(float, prints("memory_peaks.py", library, ",".join(SIZES)).split())
    over = {name: peak for (name, n), peak in zip(SIZES.items(), peaks, strict=True) if peak > 2 * n + 24}
    assert not over


@pytest.mark.slow
@needs_linux
def test_gradients_and_long_axes():
    gradient, line = map(float, prints("memory_peaks.py", "torch", "wrap gradient,line").split())
    assert gradient < 3 * 16 + 24
    assert line < 24 * 8 + 24  # tables of start, offset and weights, while they are made


@needs_linux
@pytest.mark.parametrize("library", sampled(["numpy", "torch"], 2))
def test_edges_at_which_an_axis_goes_on_take_the_memory_of_others(library):
    kinds = ["signal", "nearest"] + ["gradient"] * (library == "torch")
    calls = [f"{kind}, {edge}" for kind in kinds for edge in ("replicate", *PERIODIC)]
    peaks = dict(zip(calls, map(float, prints("memory_peaks.py", library, ";".join(calls)).split()), strict=True))
    over = {c: p for c, p in peaks.items() if p > 1.3 * peaks[c.split(",")[0] + ", replicate"] + 2}
    assert not over


# ---- the same bits, in chunks of any size


def pictures():
    x = np.random.default_rng(0).random((61, 47, 4))
    for dtype in ("uint8", "uint16", "float32", "float64"):
        yield (x * (255 if dtype[0] == "u" else 1)).astype(dtype)


WRAP, CONSTANT = (Convention.of("pillow", edge=edge) for edge in ("wrap", "constant"))


@pytest.mark.parametrize("n_bytes", [1, 4000, 30000])
def test_chunks_show_in_no_bits(n_bytes, monkeypatch):
    for x in pictures():
        calls = []
        for size in ((30, 90), (150, 20), (61, 140), (7, 3)):
            for how in (
                {"mode": "lanczos"}, {"mode": ["nearest", "linear"]}, {"like": WRAP, "mode": "cubic"},
                {"linear_light": True}, {"box": [(50, 3), None]}, {"like": CONSTANT, "box": [(-90, 200), None]},
            ):  # fmt: skip
                calls.append(lambda how=how, size=size: tenter.image.resize(x, size, alpha=True, **how))
                turned = x.transpose(2, 1, 0)
                fourth = turned[:4].transpose(1, 2, 0)
                calls.append(lambda how=how, size=size, y=fourth: tenter.image.resize(y, size, alpha=True, **how))
            for edge in ("constant", "extrapolate"):
                how = {"axes": (0, 1), "edge": edge, "value": 1, "mode": "cubic", "box": [(-20, 70), (3, 80)]}
                for t in (x, torch.from_numpy(x), x.transpose(1, 0, 2)):
                    calls.append(lambda how=how, size=size, t=t: np.asarray(tenter.resize(t, size, **how)))
        monkeypatch.setattr(chunks, "BYTES", 1 << 40)
        want = [call() for call in calls]
        monkeypatch.setattr(chunks, "BYTES", n_bytes)
        for k, call in enumerate(calls):
            got = call()
            assert got.strides == want[k].strides and np.array_equal(got, want[k]), (x.dtype, k)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16"])
@pytest.mark.parametrize("runs_chunk", [8, 1 << 14])
def test_narrow_counts_are_those_of_numpy(dtype, runs_chunk, monkeypatch):
    monkeypatch.setattr(_native.tuning, "runs_chunk", runs_chunk)  # counts are widened in chunks of 128 times this
    rng, n = np.random.default_rng(0), 20000
    even, skewed = rng.integers(0, 5, n), np.where(np.arange(n) % 5000 == 77, 120, 0)
    for counts in (even.astype(dtype), skewed.astype(dtype)):
        for kind in ("u1", "u2", "f4", "f8"):
            x = rng.integers(0, 100, n).astype(kind)
            assert np.array_equal(tenter.repeat_interleave(x, counts), np.repeat(x, counts))
            assert np.array_equal(tenter.repeat_interleave(x, counts.repeat(2)[::2]), np.repeat(x, counts))
            if dtype != "uint16" and kind[0] == "f":
                got = tenter.repeat_interleave(torch.from_numpy(x), torch.from_numpy(counts), 0)
                assert np.array_equal(got, np.repeat(x, counts))
    if dtype[0] == "i":
        counts[17] = -3
        with pytest.raises(ValueError, match="-3 at position 17"):
            tenter.repeat_interleave(x, counts)


def test_rows_that_begin_as_the_one_before_ends_share_what_they_read():
    index = [[5, 6, 7], [6, 7, 0], [7, 0, 1], [], [0, 1], [1], [3, 3, 1], [3, 1, 3], [2, 4], [2, 4]]
    offset = np.cumsum([0, *map(len, index)])
    weight = np.arange(1.0, offset[-1] + 1)
    m = Gather(8, len(index), offset, np.concatenate(index).astype(np.int64), weight)
    order, window = m._in_order
    assert order.tolist() == [5, 6, 7, 0, 1, 0, 1, 3, 3, 1, 3, 1, 3, 2, 4]
    laid = np.zeros((len(order), 8))
    laid[np.arange(len(order)), order] = 1
    assert np.array_equal(window.dense() @ laid, m.dense())


# ---- refused, not killed


def test_what_lies_between_passes_counts(monkeypatch):
    monkeypatch.setattr(limits, "machine_memory", lambda: 1 << 30)
    monkeypatch.setattr(_native.tuning, "planned_bytes", 1 << 30)  # the limit of the core
    x = np.broadcast_to(np.ones(4, "uint8"), (20000, 20000, 4))
    for give in (x, torch.ones(1, 1, 4, dtype=torch.uint8).expand(20000, 20000, 4)):
        with pytest.raises(MemoryError, match="between its passes"):
            tenter.resize(give, (64, 64), axes=(0, 1), mode="lanczos", antialias=True, edge="wrap")


def test_adjoints_check_their_tables(monkeypatch):
    monkeypatch.setattr(limits, "machine_memory", lambda: 1 << 30)
    g = torch.ones(1, 1, 5)
    periodic = "linear,half_pixel,,,,floor,torch,wrap,,-0.75"  # other edges take no tables
    with pytest.raises(MemoryError, match="tables of the axis maps"):
        torch.ops.tenter.resize_adjoint(torch.ones(1, 1, 10**7), [5], [2], periodic, "once")
    assert torch.ops.tenter.interpolate_adjoint(g, [10**7], None, "linear", False, False, False).sum() == 5


@pytest.mark.slow
@needs_linux
def test_memory_that_runs_out_in_the_middle():
    assert prints("memory_runs_out.py") == "fine\n"

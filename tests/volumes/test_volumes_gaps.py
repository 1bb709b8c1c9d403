"""The command line on arrays with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, refused  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from volume_helpers import zarr

SIZE = ("--axes", "1", "2", "--size", "10", "20", "--force")
HALF: dict[str, Any] = {"size": (10, 20), "axes": (1, 2)}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 40, 50)).astype(np.float32)
X[RNG.random(X.shape) < 0.2] = np.nan
THERE = RNG.random((40, 50)) > 0.2


def store(name: str, x: Any, chunks: tuple[int, ...]) -> None:
    if name.endswith(".npy"):
        np.save(name, x)
    else:
        zarr.create_array(name, shape=x.shape, chunks=chunks, dtype=x.dtype)[...] = x


def load(name: str) -> Any:
    return np.load(name) if name.endswith(".npy") else zarr.open_array(name)[...]


CASES = [
    (mode, source, target)
    for target in ("out.zarr", "out.npy")
    for source in ("in.zarr", "in.npy", "fortran.npy")
    for mode in ("linear", "nearest-exact", "area")
]


@pytest.mark.parametrize("mode, source, target", sampled(CASES, 7))
def test_a_result_on_disk_is_that_in_memory(mode: str, source: str, target: str) -> None:
    x = np.asfortranarray(X) if source == "fortran.npy" else X
    store(source, x, (2, 16, 16))
    store("mask.zarr", THERE, (16, 16))
    options = ("--mode", mode, "--skip-nan", "--mask", "mask.zarr", "--min-valid", "0.3")
    assert main(["resize", source, target, *SIZE, *options, "--threads", "2"]) == 0
    want = tenter.resize(x, **HALF, mode=mode, skipna=True, where=THERE, min_valid=0.3)
    np.testing.assert_array_equal(load(target), want)


def test_integers_and_arrays_in_memory_have_masks_too() -> None:
    numbers = np.nan_to_num(10 * X).astype(np.int16)
    store("in.zarr", numbers, (2, 16, 16))
    store("in.npy", X, ())
    store("mask.npy", THERE.astype(np.uint8), ())
    assert main(["resize", "in.zarr", "out.zarr", *SIZE, "--mask", "mask.npy"]) == 0
    np.testing.assert_array_equal(load("out.zarr"), tenter.resize(numbers, **HALF, where=THERE))
    assert main(["resize", "in.npy", "out.npy", *SIZE, "--mask", "mask.npy", "--skip-nan"]) == 0
    np.testing.assert_array_equal(load("out.npy"), tenter.resize(X, **HALF, where=THERE, skipna=True))
    # A job whose mask has changed is another one.
    store("mask.npy", np.ones_like(THERE), ())
    assert main(["resize", "in.zarr", "out.zarr", *SIZE, "--mask", "mask.npy"]) == 0
    np.testing.assert_array_equal(load("out.zarr"), tenter.resize(numbers, **HALF, where=True))


WRONG = [
    (("--mask", "in.npy"), "--mask: expected bools, or integers that are 0 where a value is missing, got float32"),
    (("--mask", "other.npy"), "--mask: expected a shape that broadcasts to (6, 40, 50), got (3,)"),
    (("--skip-nan", "--min-valid", "2"), "--min-valid: expected a number from 0 to 1, got '2'"),
    (("--min-valid", "0.5"), "--min-valid: goes with --skip-nan or --mask"),
]


def test_wrong_masks_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    store("in.npy", X, ())
    store("in.zarr", X, (2, 16, 16))
    store("other.npy", np.ones(3, bool), ())
    for options, message in WRONG:
        for source in ("in.zarr", "in.npy"):
            assert main(["resize", source, "out.npy", *SIZE, *options]) == 2
            assert message in capsys.readouterr().err
    assert main(["resize", "in.npy", "out.png", "--size", "8x8", "--skip-nan"]) == 2
    assert "--skip-nan and --mask: are for arrays, whose axes --axes names" in capsys.readouterr().err

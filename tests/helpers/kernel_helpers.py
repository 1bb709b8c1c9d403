"""The compiled kernels beside the reference."""

from __future__ import annotations

import numpy as np

from maps_of import apply_maps
from tenter._plans import reference
from tenter.maps import Copy, Window

# One rounding of the result, and float32 arithmetic inside for what is not 64 bits wide.
TOLERANCE = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-13, "complex64": 2e-6, "complex128": 1e-13}


def largest_sum(m):
    """Of the weights of a row, each without its sign; 1 at least."""
    if m.n_in * m.n_out < 1 << 20 or not isinstance(m, Window) or m.offset is None:
        return np.abs(m.dense()).sum(1).max(initial=1)
    sums = np.arange(m.offset[-1] + 1) if m.weight is None else np.append(0, np.abs(m.weight).cumsum())
    return np.diff(sums[m.offset]).max(initial=1)


def check(x, maps, note=""):
    """The result of maps on x, to the last bit where no sum is weighted, else to its rounding."""
    got = apply_maps(x, maps)
    want = reference.run(x, maps)
    assert got.dtype == want.dtype == x.dtype and got.shape == want.shape, note
    name = x.dtype.name
    copies = all(isinstance(m, Copy) for _, m in maps)
    exact = name not in TOLERANCE and all(getattr(m, "weight", None) is None for _, m in maps)
    if copies or exact:
        assert got.tobytes() == want.tobytes(), note
    elif name in TOLERANCE:
        scale = max(1.0, float(np.abs(x).max(initial=0)))
        taps = max((largest_sum(m) for _, m in maps), default=1)
        np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE[name] * scale * taps**2, err_msg=note)
    elif np.dtype(name).itemsize == 8:  # beyond 2**53 a double holds no integer exactly
        np.testing.assert_allclose(
            got.astype(float), want.astype(float), rtol=1e-12, atol=2.0**63 * 1e-14, err_msg=note
        )
    else:  # right to half a unit of the last place, but for float arithmetic's own error at a tie
        truth = np.clip(reference.run(x.astype(np.float64), maps), np.iinfo(name).min, np.iinfo(name).max)
        span = 1 + np.abs(truth).max(initial=0)
        assert np.abs(got.astype(np.float64) - truth).max(initial=0) <= 0.5 + span * (
            1e-6 if x.itemsize < 4 else 1e-14
        ), note
    return got

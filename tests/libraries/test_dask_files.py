"""Arrays in files: through Dask a chunk at a time, memory maps without a copy; labels through xarray."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import tenter
from cases import values
from dask_helpers import computed
from memory_helpers import needs_linux
from program_helpers import prints


@needs_linux
def test_a_memory_map_goes_to_a_memory_map_without_memory_for_either(tmp_path) -> None:
    assert prints("memory_maps.py", tmp_path).splitlines() == [
        "no room for a copy",
        "half -0.7",
        "longer 0.0",
        "repeated 0.0",
    ]


@pytest.mark.parametrize("package, open_", [("zarr", "from_zarr")])
def test_the_line_for_a_file_does_it(package, open_, tmp_path) -> None:
    zarr = pytest.importorskip(package)
    x = values((20, 30), "uint16")
    z = zarr.zeros(x.shape, chunks=(7, 8), dtype="uint16")
    z[:] = x
    with pytest.raises(TypeError) as refused:
        tenter.resize(z, (9, 9))
    assert f"dask.array.{open_}(x)" in str(refused.value)
    y = tenter.resize(getattr(da, open_)(z), (9, 50))
    np.testing.assert_array_equal(computed(y), tenter.resize(x, (9, 50)))
    np.testing.assert_array_equal(tenter.resize(z[:], (9, 50)), computed(y))


def test_a_result_can_be_written_to_zarr(tmp_path) -> None:
    """Which takes chunks of one length alone."""
    zarr = pytest.importorskip("zarr")
    x = values((50, 61), "float32")
    for f in (lambda x: tenter.resize(x, (33, 170)), lambda x: tenter.repeat_interleave(x, np.arange(50) % 5, 0)):
        y = f(da.from_array(x, chunks=(16, 20)))
        y.to_zarr(str(tmp_path / f"{y.name}.zarr"))
        np.testing.assert_array_equal(zarr.open(str(tmp_path / f"{y.name}.zarr"))[:], f(x))


def test_slabs_are_stored_one_after_the_other() -> None:
    x = values((50, 31, 20), "uint16")
    y = tenter.resize(da.from_array(x, chunks=(8, 10, 20)), (40, 50, 20), antialias=True)
    out = np.zeros(y.shape, y.dtype)
    for lo in range(0, len(y), 16):
        da.store(y[lo : lo + 16], out, regions=(slice(lo, lo + 16),), lock=False)
    np.testing.assert_array_equal(out, tenter.resize(x, (40, 50, 20), antialias=True))


def test_xarray_passes_dask_arrays_on() -> None:
    xarray = pytest.importorskip("xarray")
    x = values((2, 12, 10), "float32")
    scan = xarray.DataArray(da.from_array(x, chunks=(1, 5, 4)), dims=("t", "y", "x"), coords={"t": [5, 7]})
    calls = []

    def f(image):
        calls.append(type(image))
        return tenter.resize(image, (7, 20), axes=(-2, -1))

    y = xarray.apply_ufunc(f, scan, input_core_dims=[["y", "x"]], output_core_dims=[["y", "x"]], exclude_dims={"y", "x"},
                           dask="allowed")  # fmt: skip
    assert calls == [da.Array] and isinstance(y.data, da.Array) and y.t.values.tolist() == [5, 7]
    np.testing.assert_array_equal(computed(y.data), f(x))
    with pytest.raises(TypeError) as refused:
        tenter.resize(scan, 4)
    line = str(refused.value).split("expected ")[1].split(", with f")[0]
    whole = eval(line, {"xarray": xarray, "x": scan, "f": lambda v: tenter.resize(v, (2, 6, 4))})
    np.testing.assert_array_equal(computed(whole.data), tenter.resize(x, (2, 6, 4)))

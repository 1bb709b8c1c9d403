"""tenter.resize of xarray's containers by names of dims."""

from __future__ import annotations

import numpy as np
import pytest

import tenter

LAT, LON = np.arange(-88.0, 90, 4), np.arange(0.5, 360, 1)  # 45 and 360 centers


def field(xarray, data=None):
    data = np.random.default_rng(0).random((45, 2, 360)) if data is None else data
    times = np.array(["2020-01-01", "2020-01-03"], "datetime64[ns]")
    coords = {
        "lat": ("lat", LAT, {"units": "degrees_north", "bounds": "lat_bnds"}), "lon": ("lon", LON),
        "time": ("time", times), "member": 7,
    }  # fmt: skip
    return xarray.DataArray(data, coords, ("lat", "time", "lon"), name="t", attrs={"units": "K"})


def test_a_data_array_is_resized_by_names_and_keeps_all_else():
    xarray = pytest.importorskip("xarray")
    x = field(xarray)
    y = tenter.resize(x, {"lon": 180, "lat": 90}, mode="area")
    np.testing.assert_array_equal(y.values, tenter.resize(x.values, (180, 90), axes=(2, 0), mode="area"))
    assert type(y) is xarray.DataArray and y.dims == x.dims and y.name == "t" and y.attrs == x.attrs
    np.testing.assert_allclose(y.lat, np.arange(-89.0, 90, 2), rtol=1e-14)
    np.testing.assert_allclose(y.lon, np.arange(1.0, 360, 2), rtol=1e-14)
    assert y.lat.attrs == x.lat.attrs and int(y.member) == 7
    assert (y.time == x.time).all() and "lat" in y.indexes
    assert x.identical(field(xarray))
    twice = tenter.resize(x, scale={"time": 2})
    hours = (twice.time.values - x.time.values[0]) / np.timedelta64(1, "h")
    assert hours.tolist() == [-12, 12, 36, 60]


@pytest.mark.slow
def test_coordinates_follow_the_rule_of_the_call():
    xarray = pytest.importorskip("xarray")
    c = np.array([0.0, 1.0, 4.0, 9.0])
    x = xarray.DataArray(np.arange(4.0), {"d": c}, ("d",))
    for how in (
        {},
        {"align": "align_corners"},
        {"align": "asymmetric"},
        {"box": [(1, 3)]},
        {"box": [(4, 0)]},
        {"like": "torch"},
    ):
        y = tenter.resize(x, {"d": 7}, mode="linear", antialias=False, edge="replicate", **how)
        index = np.clip(tenter.resize(np.arange(4.0), 7, mode="linear", antialias=False, edge="replicate", **how), 0, 3)
        inside = (index > 0) & (index < 3)  # where the values of the linear mode are the positions
        np.testing.assert_allclose(y.d.values[inside], np.interp(index, np.arange(4), c)[inside], rtol=1e-13)
    ends = tenter.resize(x, {"d": 8}).d.values
    np.testing.assert_allclose(ends[[0, -1]], [-0.25, 10.25])


@pytest.mark.slow
def test_a_dataset_is_resized_where_it_has_the_dims():
    xarray = pytest.importorskip("xarray")
    x = field(xarray)
    bounds = (("lat", "nv"), np.stack([LAT - 2, LAT + 2], 1))
    data = xarray.Dataset(
        {"t": x, "zonal": x.mean("lon", keep_attrs=True), "n": ("time", [1, 2]), "lat_bnds": bounds},
        attrs={"title": "T"},
    )
    assert tenter.resize(data.set_coords("lat_bnds"), {"lat": 90}).coords["lat_bnds"].shape == (90, 2)
    y = tenter.resize(data, {"lat": 15, "lon": 60}, mode=["area", "linear"])
    assert type(y) is xarray.Dataset and list(y.data_vars) == list(data.data_vars) and y.attrs == data.attrs
    np.testing.assert_array_equal(y.t.values, tenter.resize(x.values, (15, 60), axes=(0, 2), mode=["area", "linear"]))
    np.testing.assert_array_equal(y.zonal.values, tenter.resize(data.zonal.values, 15, axes=0, mode="area"))
    assert y.n.identical(data.n) and y.zonal.attrs == data.zonal.attrs
    np.testing.assert_allclose(y.lat_bnds[:, 0], np.arange(-90.0, 90, 12), rtol=1e-13)


@pytest.mark.slow
def test_dask_stays_lazy_and_equal():
    xarray, da = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    x = field(xarray)
    y = tenter.resize(field(xarray, da.from_array(x.values, chunks=(20, 1, 100))), {"lat": 90, "lon": 100})
    assert isinstance(y.data, da.Array)
    assert y.compute().identical(tenter.resize(x, {"lat": 90, "lon": 100}))


def test_wrong_labels_are_refused():
    xarray = pytest.importorskip("xarray")
    x = field(xarray)
    for call, message in (
        (lambda: tenter.resize(x, {"latitude": 4}), "size: expected some of the dims lat, time, lon, got 'latitude'"),
        (lambda: tenter.resize(x, {}), "size: expected some of the dims lat, time, lon, got none"),
        (lambda: tenter.resize(x, {"lat": 4}, axes=0), "axes: expected none, as size names dims"),
        (lambda: tenter.resize(x, {"lat": 4}, scale={"lat": 2}), "size: expected size or scale, got both"),
        (lambda: tenter.resize(x, {"lat": -4}), "size: expected"),
        (lambda: tenter.resize(x.assign_coords(lon=x.lon % 90), {"lon": 9}), "coordinate lon: expected coordinates that ascend"),
        (lambda: tenter.resize(x.assign_coords(s=("lon", ["a"] * 360)), {"lon": 9}), "coordinate s: expected numbers or times"),
        (lambda: tenter.resize(x.isel(lon=[0]), {"lon": 9}), "coordinate lon: expected two coordinates or more"),
    ):  # fmt: skip
        with pytest.raises(ValueError) as raised:
            call()
        assert message in str(raised.value) and "\n  in resize(" in str(raised.value)
    with pytest.raises(TypeError, match=r"out: expected none for xarray.DataArray"):
        tenter.resize(x, {"lat": 4}, out=np.zeros(3))
    with pytest.raises(TypeError, match=r"x: expected xarray.apply_ufunc"):
        tenter.resize(x, 4)

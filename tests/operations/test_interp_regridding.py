"""Conservative regridding of a sphere, as on docs/coordinates.md, against xarray-regrid."""

from __future__ import annotations

import numpy as np
import pytest

import tenter


def edges(n, first, step):
    return first + step * np.arange(n + 1)


def centers(e):
    return (e[1:] + e[:-1]) / 2


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(0.25, 1.0), (1.0, 0.25), (0.5, 0.75), (1.5, 0.4)])
def test_regridding_is_that_of_xarray_regrid(steps):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("xarray_regrid")
    fine, coarse = steps
    lat, lon = edges(round(180 / fine), -90, fine), edges(round(360 / fine), 0, fine)
    lat_out, lon_out = edges(round(180 / coarse), -90, coarse), edges(round(360 / coarse), 0, coarse)
    field = np.random.default_rng(0).normal(280, 10, (len(lat) - 1, len(lon) - 1))
    weights = np.cos(np.radians(centers(lat)))
    got = tenter.interp(field, lat_out, lat, axis=0, mode="area", weights=weights)
    got = tenter.interp(got, lon_out, lon, axis=1, mode="area", period=360)
    given = xarray.DataArray(field, {"lat": centers(lat), "lon": centers(lon)}, ("lat", "lon"))
    target = xarray.Dataset(coords={"lat": centers(lat_out), "lon": centers(lon_out)})
    want = given.regrid.conservative(target, latitude_coord="lat", skipna=False).data
    want = want.todense() if hasattr(want, "todense") else np.asarray(want)  # where the package sparse is there
    # It adds a cell to each pole, the mean of the row beside it. All other rows are the same.
    rows = (lat_out[:-1] >= -90 + fine) & (lat_out[1:] <= 90 - fine)
    assert rows.mean() > 0.9
    np.testing.assert_allclose(got[rows], want[rows], rtol=1e-12)


@pytest.mark.slow
def test_regridding_with_gaps_is_that_of_xarray_regrid():
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("xarray_regrid")
    e, e_out = edges(240, -30, 0.25), edges(60, -30, 1.0)
    field = np.random.default_rng(0).normal(280, 5, (240, 240))
    field[np.random.default_rng(1).random(field.shape) < 0.4] = np.nan
    field[:40, :50] = np.nan

    def regridded(x):
        rows = tenter.interp(x, e_out, e, axis=0, mode="area", weights=np.cos(np.radians(centers(e))))
        return tenter.interp(rows, e_out, e, axis=1, mode="area")

    share = regridded(~np.isnan(field) * 1.0)
    got = np.where(share > 0, regridded(np.nan_to_num(field)) / np.where(share > 0, share, 1), np.nan)
    given = xarray.DataArray(field, {"lat": centers(e), "lon": centers(e)}, ("lat", "lon"))
    target = xarray.Dataset(coords={"lat": centers(e_out), "lon": centers(e_out)})
    want = given.regrid.conservative(target, latitude_coord="lat", skipna=True, nan_threshold=1.0).data
    want = want.todense() if hasattr(want, "todense") else np.asarray(want)
    np.testing.assert_allclose(got[1:-1], want[1:-1], rtol=1e-12)
    # Cells that count alike, in one call: the cosine hardly changes within a degree.
    plain = tenter.resize(field, (60, 60), mode="area", skipna=True)
    np.testing.assert_allclose(plain[1:-1], want[1:-1], rtol=2e-4)


def test_a_sphere_keeps_its_mean_there_and_back():
    lat, lon = edges(72, -90, 2.5), edges(144, -180, 2.5)
    lat_out, lon_out = edges(45, -90, 4.0), edges(90, 2, 4.0)  # another first meridian
    field = np.random.default_rng(0).normal(280, 10, (3, 72, 144))

    def mean(x, lat):
        return (x.mean(-1) * np.diff(np.sin(np.radians(lat)))).sum(-1) / 2

    def regridded(x, lat_in, lat_out, lon_in, lon_out):
        # The sines of edges: cells have their areas on the sphere.
        a, b = np.sin(np.radians(lat_out)), np.sin(np.radians(lat_in))
        return tenter.interp(tenter.interp(x, a, b, axis=1, mode="area"), lon_out, lon_in, mode="area", period=360)

    out = regridded(field, lat, lat_out, lon, lon_out)
    np.testing.assert_allclose(mean(out, lat_out), mean(field, lat), rtol=1e-12)
    np.testing.assert_allclose(mean(regridded(out, lat_out, lat, lon_out, lon), lat), mean(field, lat), rtol=1e-12)
    ones = regridded(np.ones_like(field), lat, lat_out, lon, lon_out)
    np.testing.assert_allclose(ones, 1, rtol=1e-13)

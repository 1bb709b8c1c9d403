"""The same of xarray's containers."""

from __future__ import annotations

from typing_extensions import assert_type
from xarray import DataArray, Dataset

import tenter


def containers_stay_what_they_are(x: DataArray, data: Dataset) -> None:
    assert_type(tenter.resize(x, {"lat": 90, "lon": 180}, mode="area"), DataArray)
    assert_type(tenter.resize(data, scale={"lat": 0.5}, like="torch"), Dataset)
    tenter.resize(x, {"lat": 90}, axes=(0, 1))  # error: call-overload, reportCallIssue

"""Lazy arrays: every expression equals its materialized twin; what is not needed is not made."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st

from lazy_expressions import assert_twins, both, changes, stretched
from tenter.lazy import LazyArray

QUICK = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(st.data())
def test_expressions_equal_their_materialized_twins(data):
    library, dtype, (lazy, twin), stretch = data.draw(stretched())
    assert_twins(lazy, twin)
    x = lazy.base
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(data.draw(st.integers(1, 3))):
            if not isinstance(lazy, LazyArray):
                break
            change = data.draw(changes(library, dtype, twin, stretch, x))
            pair = both(change, lazy, twin)
            if pair is None:
                break
            lazy, twin = pair
            if isinstance(twin, tuple):
                lazy, twin = lazy[0], twin[0]
            assert_twins(lazy, twin)

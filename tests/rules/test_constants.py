"""Constant images of float32: how far sums in single precision move them."""

from __future__ import annotations

import cv2
import numpy as np

import tenter


def test_area_moves_a_constant_by_few_units_in_the_last_place_and_no_further_than_opencv():
    ours, theirs = 0.0, 0.0
    for value in (1.0, 0.1, 0.7):
        unit = np.spacing(np.float32(value))
        for n in range(5, 65, 2):
            for m in range(2, n, 5):
                x = np.full((n, n), value, np.float32)
                for how in ({}, {"like": "opencv"}):
                    ours = max(ours, np.abs(tenter.resize(x, (m, m), mode="area", **how) - x[0, 0]).max() / unit)
                moved = cv2.resize(x, (m, m), interpolation=cv2.INTER_AREA)
                theirs = max(theirs, np.abs(moved - x[0, 0]).max() / unit)
    assert ours <= min(7, theirs)

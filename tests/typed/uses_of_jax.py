"""The same of JAX's arrays."""

from __future__ import annotations

from jax import Array
from typing_extensions import assert_type

import tenter


def an_array_gives_an_array(x: Array, counts: Array) -> None:
    assert_type(tenter.repeat_interleave(x, counts, axis=0), Array)
    assert_type(tenter.repeat(x, 2, 3), Array)
    assert_type(tenter.tile(x, dims=(2, 3)), Array)
    assert_type(tenter.expand(x, (4, -1)), Array)
    assert_type(tenter.interpolate(input=x, size=(4, 5), mode="bilinear"), Array)
    assert_type(tenter.resize(x, scale=(2, 1.5), edge="wrap", align="align_corners"), Array)
    assert_type(tenter.image.resize(x, 4), Array)
    assert_type(tenter.axis_map(4, 6).apply(x, 0), Array)
    tenter.resize(x, 4, mode="bilinar")  # error: arg-type, reportCallIssue

"""`tenter.image.resize` of images with missing pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenter
from sweeps import in_one_test
from tenter.image import Fill, resize

X = np.random.default_rng(3).random((17, 21, 3)).astype(np.float32)
BYTES = (X * 255).astype(np.uint8)


@in_one_test("layout, order", [("HWC", (0, 1, 2)), ("CHW", (2, 0, 1)), (None, (0, 1, 2))])
def test_missing_pixels_are_left_out_as_by_resize(layout: Any, order: tuple[int, ...]) -> None:
    x, there = X, np.random.default_rng(0).random((17, 21)) > 0.1
    wanted = tenter.resize(x, (7, 9), axes=(0, 1), mode="lanczos", where=there[..., None])
    turned, back = x.transpose(order), np.argsort(order)
    how: dict[str, Any] = {"where": there, "layout": layout}
    np.testing.assert_allclose(resize(turned, (7, 9), **how).transpose(back), wanted, rtol=1e-5)
    if layout:
        batch = resize(np.stack([turned] * 2), (7, 9), **{**how, "layout": f"N{layout}"})[1]
        np.testing.assert_allclose(batch.transpose(back), wanted, rtol=1e-5)
    holes = np.where(there[..., None], x, np.nan).transpose(order)
    np.testing.assert_allclose(resize(holes, (7, 9), skipna=True, layout=layout).transpose(back), wanted, rtol=1e-5)


def test_a_dead_pixel_leaves_no_trace_in_any_form() -> None:
    x, there = BYTES, np.ones((17, 21), bool)
    there[3, 5] = False
    how: dict[str, Any] = {"where": there, "mode": "linear"}
    dead = x.copy()
    dead[3, 5] = 255 - x[3, 5]
    for size in ((7, 9), Fill(8), tenter.image.Fit(30, enlarge=True, pad=9)):
        np.testing.assert_array_equal(resize(dead, size, **how), resize(x, size, **how))
    image = pytest.importorskip("PIL.Image").fromarray(dead)
    np.testing.assert_array_equal(resize(image, (7, 9), draft=True, **how), resize(x, (7, 9), **how))
    out = np.zeros((7, 9, 3), np.uint8)
    assert resize(dead, (7, 9), out=out, **how) is out and np.array_equal(out, resize(x, (7, 9), **how))
    for given, message in (
        ({"alpha": True}, "where: expected none with alpha"),
        ({"linear_light": True}, "where: expected none with linear_light"),
        ({"where": there[:3]}, "where: expected a shape that broadcasts"),
    ):
        with pytest.raises(ValueError, match=message):
            resize(x, (7, 9), **{**how, **given})
    with pytest.raises(TypeError, match="where: expected none for a list of images"):
        resize([x, x], (7, 9), where=there)

"""resize's matrices by fractions and formulas (tests/helpers/resize_oracle.py), where every rule is given in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..helpers import resize_oracle
from .matrices import of_matrix
from .oracle import Maps


def _blurs(like: Any) -> bool:
    """Whether a convention antialiases by a Gaussian, which has no formula here."""
    return like == "skimage" or getattr(getattr(like, "value", like), "antialias", "") == "gaussian"


def _keeps_ratio(like: Any) -> bool:
    """Whether a convention changes the scale of an axis after that of another, as `policy` does."""
    return getattr(getattr(like, "value", like), "aspect_ratio", "stretch") != "stretch"


def independent(kwargs: dict[str, Any], maps: Maps, x: Any, axes: list[int]) -> Maps | None:
    """Matrices by fractions and formulas (tests/helpers/resize_oracle.py), where every rule is given in words."""
    mode, edge = kwargs["mode"], kwargs.get("edge")
    alias = {"lanczos3": "lanczos", "nearest-exact": None}.get(mode, mode) if isinstance(mode, str) else None
    if (
        alias is None
        or edge is None
        or "scale" in kwargs
        or "policy" in kwargs
        or _keeps_ratio(kwargs.get("like"))
        or kwargs.get("align") not in ("half_pixel", "align_corners", "asymmetric")
    ):
        return None
    antialias = kwargs.get("antialias")
    if antialias is None or alias not in (*resize_oracle.FILTERS, "area", "nearest"):
        return None
    if (alias == "nearest" and "tie" not in kwargs) or (alias == "cubic" and "cubic" not in kwargs) or alias == "box":
        return None
    if (antialias and (kwargs["align"] == "align_corners" or _blurs(kwargs.get("like")))) or (
        alias == "area" and kwargs["align"] == "align_corners"
    ):
        return None
    if alias == "cubic":
        resize_oracle.FILTERS["cubic"] = (resize_oracle.keys(kwargs["cubic"]), 2)
    found, boxes = [], kwargs.get("box") or [None] * len(axes)
    sizes = {a: len(d.weight) for a, d in maps}
    for axis, box in zip(axes, boxes):
        n = x.shape[axis]
        if sizes[axis] > 60 or n > 60:
            return None
        pair = None if box is None else (Fraction(plain(box[0])), Fraction(plain(box[1])))
        found.append((axis, of_matrix(resize_oracle.matrix(
            n, sizes[axis], alias, edge, bool(antialias), kwargs["align"], None, pair, kwargs.get("tie", "prefer_ceil")
        ))))  # fmt: skip
    return sorted(found, key=lambda m: m[0])


def plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v

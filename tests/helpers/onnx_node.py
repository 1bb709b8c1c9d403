"""ONNX's own node tests, and its operators said in tenter's words: one argument for each attribute."""

from __future__ import annotations

import importlib
from fractions import Fraction
from functools import cache

import numpy as np
from onnx import helper
from onnx.backend.test.case import node

import tenter
from tenter.conventions import Convention
from tenter.filters import cubic

OPERATORS = ("Resize", "Upsample", "Tile", "Expand")
COORDINATES = ("half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric", "pytorch_half_pixel",
               "tf_half_pixel_for_nn", "tf_crop_and_resize")  # fmt: skip
TIE = {
    "round_prefer_floor": "prefer_floor",
    "round_prefer_ceil": "prefer_ceil",
    "floor": "floor",
    "ceil": "ceil",
}


@cache
def cases():
    """Every shipped node test of the operators, by name: (operator, attributes, inputs by name, expected)."""
    for operator in OPERATORS:  # each has a module, which makes its cases; those of all operators take seconds
        importlib.import_module(f"{node.__name__}.{operator.lower()}")
    return of_operators(node._NodeTestCases)


def of_operators(shipped):
    found = {}
    for case in shipped:
        (first, *others) = case.model.graph.node
        if others or first.op_type not in OPERATORS:
            continue
        attributes = {a.name: helper.get_attribute_value(a) for a in first.attribute}
        attributes = {name: v.decode() if isinstance(v, bytes) else v for name, v in attributes.items()}
        ((inputs, (expected,)),) = case.data_sets
        values = iter(inputs)
        given = [next(values) if name else None for name in first.input]
        found[case.name] = (first.op_type, attributes, given, expected)
    return found


def run(operator, attributes, inputs):
    return {"Resize": resize, "Upsample": upsample, "Tile": tile, "Expand": expand}[operator](attributes, *inputs)


def resize(attributes, x, roi=None, scales=None, sizes=None):
    axes = attributes.get("axes", range(x.ndim))
    mode = attributes.get("mode", "nearest")
    coordinates = attributes.get("coordinate_transformation_mode", "half_pixel")
    edge, value, box = None, 0.0, None
    if attributes.get("exclude_outside", 0):
        edge = "renormalize"
    if coordinates == "tf_crop_and_resize":
        edge, value = "extrapolate", attributes.get("extrapolation_value", 0.0)
        box = boxes(x, axes, roi)
    return tenter.resize(
        x,
        None if sizes is None else [int(n) for n in sizes],
        scale=None if scales is None else [float(s) for s in scales],
        axes=tuple(axes),
        mode=cubic(attributes.get("cubic_coeff_a", -0.75)) if mode == "cubic" else mode,
        antialias=bool(attributes.get("antialias", 0)),
        like=Convention.of(
            "onnx",
            aspect_ratio=attributes.get("keep_aspect_ratio_policy", "stretch"),
            nearest_tie=TIE[attributes.get("nearest_mode", "round_prefer_floor")],
        ),
        box=box,
        align=coordinates,
        edge=edge,
        value=value,
    )


def boxes(x, axes, roi):
    """ONNX's region goes from centre to centre in parts of an axis, tenter's box from edge to edge in pixels."""
    found = []
    for k, axis in enumerate(axes):
        begin, end = (Fraction(float(v)) * (x.shape[axis] - 1) for v in (roi[k], roi[len(axes) + k]))
        found.append((begin, end + 1) if begin <= end else (begin + 1, end))
    return found


def upsample(attributes, x, scales):
    return tenter.resize(
        x,
        scale=[float(s) for s in scales],
        axes=tuple(range(x.ndim)),
        mode=attributes.get("mode", "nearest"),
        like=Convention.of("onnx", nearest_tie="floor"),
        align="asymmetric",
    )


def tile(attributes, x, repeats):
    return tenter.tile(x, tuple(int(r) for r in repeats))


def expand(attributes, x, shape):
    return tenter.expand(x, *np.broadcast_shapes(x.shape, tuple(int(n) for n in shape)))

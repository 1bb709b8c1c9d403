"""resize: any axes of any array, any filter, any library's convention; and its map of one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from tenter._arrays.arguments import MISSING, array, describe, error, flag, integer
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, in_dynamo
from tenter._arrays.names import as_written, misnamed, parameters, show_signature
from tenter._execution import calls, executor, fill_value, labelled, labels as of_labels, masked
from tenter._execution.calls import FIND, unknown
from tenter._rules import splines
from tenter._specs import modes, resize_arguments
from tenter.maps import AxisMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from tenter._arrays.signatures import (
        Align,
        Box,
        Edge,
        Element,
        Held,
        Labelled,
        Like,
        Mode,
        ModeName,
        Nested,
        Numbers,
        OfXarray,
        Other,
        Sizes,
        Tensor,
        Unpack,
        Where,
    )
    from tenter._rules.filters import Filter
    from tenter._rules.presets import Convention
    from tenter._specs.signatures import NamedDims, ResizeArguments, RuleArguments


# fmt: off
@overload
def resize(x: Labelled, size: Mapping[Any, SupportsIndex] | None = None, **how: Unpack[NamedDims]) -> Labelled: ...
@overload
def resize(x: NDArray[Element], size: Sizes | None = None, *, out: NDArray[Element] | None = None,
    **how: Unpack[ResizeArguments]) -> NDArray[Element]: ...
@overload
def resize(x: Nested, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[ResizeArguments]) -> NDArray[Any]: ...
@overload
def resize(x: Other, size: Sizes | None = None, *, out: Other | None = None,
    **how: Unpack[ResizeArguments]) -> Other: ...
@overload
def resize(x: Tensor, size: Sizes | None = None, *, out: Tensor | None = None,
    **how: Unpack[ResizeArguments]) -> Tensor: ...
@overload
def resize(x: Held, size: Sizes | None = None, *, out: NDArray[Any] | None = None,
    **how: Unpack[ResizeArguments]) -> NDArray[Any]: ...
# fmt: on
def resize(
    x: Any = MISSING,
    size: Sizes | Mapping[Any, SupportsIndex] | None = None,
    too_many: Any = None,
    scale: Numbers | Mapping[Any, float | Fraction] | None = None,
    axes: SupportsIndex | Sequence[SupportsIndex] | NDArray[np.integer[Any]] | None = None,
    mode: ModeName | Filter | Sequence[Mode | Filter] = "linear",
    antialias: bool | None = None,
    like: Like | Convention | None = None,
    box: Box | None = None,
    align: Align | None = None,
    edge: Edge | None = None,
    value: complex = 0,
    labels: bool = False,
    where: Where | OfXarray | None = None,
    skipna: bool = False,
    min_valid: float | None = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Resizes any axes of an array: linear, and antialiased where it shrinks, unless the call says otherwise.

    Parameters
    ----------
    x : array
        An array, tensor or list of any shape. Every real and complex dtype; modes "nearest" and "nearest-exact" take
        any dtype. Or a DataArray or Dataset of xarray, whose coordinates are resized too.
    size : int or sequence of ints, optional
        The lengths of the resized axes, in the order of axes; an int for one axis. For xarray's, a dict of lengths by
        the names of dims, as is scale; lists of modes and boxes then have its order.
    scale : float, Fraction or sequence of these, optional
        Output / input, in place of size; one number stands for all. Lengths are rounded down unless `like` says
        otherwise.
    axes : int or sequence of ints, optional
        The axes to resize: (0, 1) of an (H, W, C) image, (-2, -1) of (..., H, W). None: all axes, if x has one or two
        or size has a number for each.
    mode : str, Filter or list of these, default "linear"
        The interpolation mode; a list gives one per axis. See Notes.
    antialias : bool, optional
        Whether the filter widens when shrinking, so that fine patterns do not alias. None: yes, and with `like` as
        that library does. Modes "area", "nearest" and "nearest-exact" have none, and refuse True.
    like : str or Convention, optional
        The library whose rules and defaults apply where no other argument decides: "torch" (also "pytorch"), "pillow"
        ("PIL"), "opencv" ("cv2"), "onnx", "jax", "tensorflow" ("tf"), "skimage" ("scikit-image") or "scipy".
        `Convention.of("onnx", nearest_tie="ceil")` changes one rule. None: tenter's own rules, which are Pillow's
        filters at exact positions.
    box : sequence of (begin, end) or None, optional
        The part of each axis to resize, in input pixels, fractions allowed. None is the entire axis. An end before its
        begin reverses the axis.
    align : str, optional
        "half_pixel" aligns the outer edges of the first and last pixels, "align_corners" their centers, "asymmetric"
        the near edges alone; these and the others of `tenter.geometry.Geometry` are ONNX's words. None: as `like` does.
    edge : str, optional
        What is read outside the array: "replicate" (the edge pixel), "reflect" (mirrored, without the edge pixel),
        "symmetric" (mirrored, with it), "wrap", "constant" (`value`), "renormalize" (nothing: the other weights sum to
        one) or "extrapolate" (`value` for outputs outside). None: as `like` does.
    value : number, default 0
        The fill value of edges "constant" and "extrapolate"; and of outputs without valid inputs, where the dtype has
        no NaN.
    labels : bool, default False
        Whether x holds labels (classes, instances), which are not averaged: integers or bools. Each output has the
        label whose one-hot array, resized by the same call, is largest there, and the smallest of equal ones. The
        one-hot arrays are not made. There is no gradient.
    where : array of bool, optional
        Where x is valid; it broadcasts against x. Weights are normalized over the valid inputs of each output, and
        what is elsewhere is not read. A numpy.ma.MaskedArray has its own mask, and gives a MaskedArray.
    skipna : bool, default False
        Whether NaN is left out, as by `where=~isnan(x)`.
    min_valid : float, optional
        The least share of an output's weight that valid inputs must have, from 0 to 1; other outputs are NaN. None: any
        share above 0, and 0.5 in modes with negative weights. See Notes.
    out : array, optional
        Memory for the result, which is also returned: an array or tensor of x's library, dtype and device with the
        result's shape, such as a memory map. No gradient may be recorded. Invalid calls leave it as is.

    Returns
    -------
    array
        A new array of x's library and dtype, with x's order of axes in memory (antialiased uint8 whose resized axes lie
        in another order than in x's shape: in the order of the shape). Integers are rounded half to even and
        saturated. Antialiased uint8 of a given size is bit-identical to Pillow's. With like="opencv", linear uint8 of
        two axes without antialias is bit-identical to OpenCV's; other uint8 that is interpolated along two axes is
        within 0.59 of the exact result.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or x does not hold numbers and mode is not nearest or nearest-exact.
    ValueError
        If a value is not allowed, or arguments contradict each other.
    IndexError
        If there is no such axis.
    MemoryError
        If the result is larger than the machine's memory.

    See Also
    --------
    interpolate : PyTorch's arguments, for batches of (batch, channels, ...).
    tenter.image.resize : Images with alpha or in linear light, lists, Pillow images, sizes that keep the aspect ratio.
    axis_map : The matrix that is applied to one axis.
    tenter.conventions.compare : Where the libraries differ.

    Notes
    -----
    Which mode:

    - "linear" is the default of most libraries, also as "bilinear" for two axes and "trilinear" for three. It never
      leaves the range of its inputs.
    - "cubic" ("bicubic" for two axes) is sharper, and overshoots at edges. "catmull-rom" is the cubic with a = -0.5,
      "mitchell" overshoots less, "bspline" blurs. `tenter.filters.cubic(a)` has any slope.
    - "spline2" to "spline5" are splines through the samples, as in SciPy: "spline3" is "bspline" of what passes through
      x. like="scipy" and like="skimage" call it "cubic". Without `edge`, the axis is reflected.
    - "lanczos" ("lanczos3"; "lanczos2" to "lanczos5") is the sharpest for shrinking photographs, with antialias. It
      overshoots.
    - "area" takes the mean of what each output covers, each input by its covered share (conservative regridding): the
      sum times the step stays, at any factor. like="torch" takes the mean of all inputs that are touched.
    - "nearest-exact" copies the pixel at the center, for labels (classes, instances), of which other modes need
      `labels=True`: the mean of two labels is another label. "nearest" copies as OpenCV's INTER_NEAREST does.
    - "box" and "hamming" are Pillow's. A `tenter.filters.Filter` is a function of your own.

    What antialias costs: when shrinking by s along an axis, each output reads s times more inputs, so that all inputs
    are read; without it, an output reads 2 (linear) or 4 (cubic) inputs, and those between outputs are skipped. When
    enlarging, it changes nothing but the last bit of 8-bit integers, which are rounded after each axis, as in Pillow.

    With A the map of all axes and m the mask, `where` gives A(x m) / A(m), and A(m) is the share. Values that pad
    edge "constant" are valid; those left out by "renormalize" count neither as valid nor as missing. In modes with
    negative weights (cubic, lanczos, splines, filters of your own) a share may be below 0 or above 1, and a small one
    makes results large: at 0.5, twice as large as without gaps. Modes "nearest" and "nearest-exact" take the plain
    nearest input, valid or not. Gradients go to valid inputs.

    Half and single precision are computed in float32 with weights from float64, larger integers in float64. Gradients,
    in PyTorch and JAX, apply the transposed map; they are bit-identical for any number of threads.

    References
    ----------
    R. Keys, "Cubic convolution interpolation for digital image processing" (1981). D. Mitchell and A. Netravali,
    "Reconstruction filters in computer graphics" (1988). C. Duchon, "Lanczos filtering in one and two dimensions"
    (1979).

    Examples
    --------
    A signal, a reversed part, and a photograph made half as large:

    >>> resize(np.array([0.0, 10.0, 20.0]), 5, align="align_corners")
    array([ 0.,  5., 10., 15., 20.])
    >>> resize(np.arange(4), 4, box=[(4, 0)], mode="nearest-exact")
    array([3, 2, 1, 0])
    >>> resize(np.array([3, 3, 7, 7, 7, 9]), 2, mode="area", labels=True)
    array([3, 7])
    >>> photo = np.zeros((88, 66, 3), np.uint8)
    >>> resize(photo, scale=0.5, axes=(0, 1), mode="lanczos").shape
    (44, 33, 3)

    A small image of two dims:

    >>> resize(np.array([[0, 40], [80, 120]], np.uint8), (2, 4))
    array([[  0,  10,  30,  40],
           [ 80,  90, 110, 120]], dtype=uint8)

    Missing values:

    >>> resize(np.array([1.0, np.nan, 3.0, 5.0]), 2, mode="area", skipna=True)
    array([1., 4.])

    A gradient: each input gets the sum of the weights by which outputs read it.

    >>> import torch
    >>> x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> resize(x, 6).sum().backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """
    if no_other or too_many is not None:
        raise misnamed("resize", resize, no_other, too_many, x=x, size=size)
    votes = labels is not False and _votes(labels, mode)
    # Not within `try`, where the compiler could not end a graph, and would follow single functions of tenter.
    if (type(mode) is not str and modes.is_confused(mode)) or (votes and in_dynamo()):
        from tenter._torch import uncompiled  # imports torch

        how: dict[str, Any] = {
            "scale": scale, "axes": axes, "mode": mode, "antialias": antialias, "like": like, "box": box,
            "align": align, "edge": edge, "value": value, "labels": labels, "where": where, "skipna": skipna,
            "min_valid": min_valid, "out": out,
        }  # fmt: skip
        return (uncompiled.with_labels if votes else uncompiled.with_filter)(resize, x, size, **how)
    try:
        if labels is not False:
            flag("labels", labels)
        gaps = None
        if where is not None or skipna is not False or min_valid is not None:
            gaps = masked.Gaps(where, skipna, min_valid)
        elif out is None and not votes:
            cached = FIND.get(type(x), unknown)(
                "resize", x, size, scale, axes, mode, antialias, like, box, align, edge, value
            )
            if cached is not None:
                return cached
        if labelled.is_labelled(x, size, scale):
            others: dict[str, Any] = {"like": like, "box": box, "align": align, "edge": edge, "value": value}
            others |= {"axes": axes, "mode": mode, "antialias": antialias, "labels": labels}
            others |= {} if gaps is None else gaps._asdict()
            return labelled.resized(resize, x, size, scale, others, out)
        given = resize_arguments.Arguments(size, scale, axes, mode, antialias, like, box, align, edge, value)
        return _resized(x, given, votes, gaps, out)
    except Refusal as refusal:
        named = {
            "size": size, "scale": scale, "axes": axes, "mode": mode, "antialias": antialias, "like": like,
            "box": box, "align": align, "edge": edge, "value": value, "labels": labels, "where": where,
            "skipna": skipna, "min_valid": min_valid,
        }  # fmt: skip
        raise error(refusal, "resize", **as_written(resize, {"x": x, **named, "out": out})) from None


def _votes(labels: Any, mode: Any) -> bool:
    """Whether labels are elected: nearest modes take one."""
    return (labels is True or (isinstance(labels, np.bool_) and bool(labels))) and not modes.only_nearest(mode)


def _resized(x: Any, given: resize_arguments.Arguments, votes: bool, gaps: masked.Gaps | None, out: Any) -> Any:
    if gaps is None and masked.is_masked(x):  # which no call that is cached has
        gaps = masked.Gaps()
    if votes and gaps is not None:
        refuse(ValueError, "labels", "False where values are missing, as labels are not summed", "True")
    if votes:
        return of_labels.resized(array("x", x), given, out)
    if gaps is not None:
        return masked.perform(x, given, gaps, out)
    if out is not None and (written := calls.cached_into("resize", x, out, *given)) is not None:
        return written
    x = array("x", x)
    spec, flipped = resize_arguments.checked(x, given)
    given_x = x
    if flipped:
        x = executor.of(x).flip(x, flipped)
    if spec.reads_outside and (given.value != 0 or not is_numeric(dtype_name(x))):
        return fill_value.perform("resize", given_x, given, x, spec, out)
    return calls.perform("resize", given_x, given, x, spec, out)


def axis_map(
    n_in: SupportsIndex,
    n_out: SupportsIndex,
    mode: Mode | Filter = "linear",
    too_many: None = None,
    **how: Unpack[RuleArguments],
) -> AxisMap:
    """The map that `resize` applies to one axis of a float32 array; of splines, of a float64 array. Provisional: it may
    change before 1.0.

    Parameters
    ----------
    n_in, n_out : int
        The lengths of the axis, input and output.
    mode : str or Filter, default "linear"
        As for `resize`.
    **how
        The other arguments of `resize`, except axes, value, labels, out and those for missing values.

    Returns
    -------
    Copy, Window or Gather
        The sparse matrix of n_out rows and n_in columns.

    Raises
    ------
    TypeError, ValueError
        As `resize`.

    See Also
    --------
    tenter.maps : What maps can do.
    resize : Applies the maps of all axes.

    Notes
    -----
    PyTorch rounds the positions of modes "nearest" and "nearest-exact" by rank, sizes, dtype and device. So `resize`
    with like="torch" may read other inputs than this map.

    Examples
    --------
    >>> axis_map(4, 2, "area")
    Window(4 -> 2: weights of 2)
    """
    for word, value in how.items():
        if word in ("axes", "labels", "out", "where", "skipna", "min_valid"):
            refusal = Refusal(TypeError, f"{word}: expected no argument of this name, got {describe(value)}")
            raise error(refusal, "axis_map", n_in, n_out, mode, **how)
    unknown = {word: value for word, value in how.items() if word not in parameters(resize)}
    if unknown or too_many is not None:
        raise misnamed("axis_map", resize, unknown, too_many, n_in=n_in, n_out=n_out, mode=mode)
    try:
        x = np.broadcast_to(np.float32(0), (integer("n_in", n_in, least=0),))
        spec, flipped = resize_arguments.checked(x, resize_arguments.Arguments(n_out, mode=mode, **how))
        if flipped:
            refuse(ValueError, "box", "one in ascending order, for a map", repr(how["box"]))
        ((_, found),) = spec.maps(x.shape, "float64" if spec.rules[0].kind in splines.KINDS else "float32", False)
        made: AxisMap = found
        return made
    except Refusal as refusal:
        raise error(refusal, "axis_map", n_in, n_out, mode, **how) from None


for _function in (resize, axis_map):
    show_signature(_function)

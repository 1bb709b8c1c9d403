"""The matrix from indices to the world of a volume that was resized."""

from typing import Any

import numpy as np

from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.types import Floats
from tenter._rules.geometry import Geometry


def affine(matrix: Any, geometries: Any) -> Floats:
    """The matrix from indices to the world of a resized volume, from the matrix of the volume. Provisional: it may
    change before 1.0.

    NIfTI calls this matrix the affine. For ITK its columns are direction times spacing, and its last column is the
    origin.

    Parameters
    ----------
    matrix : array
        (n + 1, n + 1): takes indices of n axes, and a 1, to world coordinates, in any unit. Its last row is
        0, ..., 0, 1.
    geometries : sequence of Geometry
        One for each axis, in the order of the matrix's columns: the lengths, `align`, `scale` and `box` of the call
        that resized. None for an axis that was not resized.

    Returns
    -------
    numpy.ndarray
        float64[n + 1, n + 1].

    Raises
    ------
    TypeError, ValueError
        If matrix is not such a matrix of finite numbers, or geometries are not one for each axis.

    See Also
    --------
    Geometry.line : The two numbers that an axis adds.

    Examples
    --------
    >>> voxels = np.diag([5.0, 1.0, 1.0])                     # 5 mm between slices, pixels of 1 mm, two axes
    >>> affine(voxels, [Geometry(6, 30), None])
    array([[ 1.,  0., -2.],
           [ 0.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """
    try:
        return _affine(matrix, geometries)
    except Refusal as refusal:
        raise error(refusal, "geometry.affine", matrix, geometries) from None


def _affine(matrix: Any, geometries: Any) -> Floats:
    try:
        old = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        refuse(TypeError, "matrix", "a matrix of numbers", describe(matrix))
    n = len(old) - 1 if old.ndim == 2 else -1
    if n < 1 or old.shape != (n + 1, n + 1) or not np.isfinite(old).all() or old[n].tolist() != [0.0] * n + [1.0]:
        refuse(
            ValueError, "matrix", "a square matrix of finite numbers whose last row is 0, ..., 0, 1", describe(matrix)
        )
    if not isinstance(geometries, (tuple, list)) or not all(g is None or isinstance(g, Geometry) for g in geometries):
        refuse(TypeError, "geometries", "a list of Geometry or None", describe(geometries))
    if len(geometries) != n:
        refuse(ValueError, "geometries", f"{n}, one for each axis of matrix", str(len(geometries)))
    new = np.eye(n + 1)
    for k, geometry in enumerate(geometries):
        if geometry is not None:
            first, step = geometry.line()
            new[k, k], new[k, n] = float(step), float(first)
    return np.asarray(old @ new)

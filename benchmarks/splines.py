"""Volumes that splines of order 3 resize: by SciPy, scikit-image, SimpleITK and VTK where they are installed, and by
PyTorch's trilinear for scale.

`python -m benchmarks splines` writes docs/measured/splines.md. Each library is timed in turns with tenter.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tenter.scipy
from benchmarks import cookbook, peers
from benchmarks.report import between
from benchmarks.table import lined
from tenter.skimage import resize as ours

PAGE = Path("docs/measured/splines.md")
BEGIN, END = "<!-- splines: written by python -m benchmarks splines -->", "<!-- end of splines -->"
PACKAGES = ("torch", "numpy", "scipy", "scikit-image")
MODULES = {"simpleitk": "SimpleITK", "vtk": "vtkmodules.vtkImagingCore"}
SIDE = 128
Ways = dict[str, Callable[[], Any]]  # the last one is tenter's; what begins with TRILINEAR has other values
TRILINEAR = "trilinear"


def zoomed(side: int) -> Ways:
    from scipy import ndimage

    x = volume(side)
    return {
        "`scipy.ndimage.zoom(x, 2, mode=\"mirror\")`": lambda: ndimage.zoom(x, 2, mode="mirror"),
        "trilinear, `F.interpolate(x, scale_factor=2)`": trilinear(x),
        "`tenter.scipy.zoom(x, 2, mode=\"mirror\")`": lambda: tenter.scipy.zoom(x, 2, mode="mirror"),
    }  # fmt: skip


def resized(side: int) -> Ways:
    from skimage.transform import resize as theirs

    x = volume(side)
    twice = (2 * side,) * 3
    return {
        "`skimage.transform.resize(x, twice, order=3, clip=False)`": lambda: theirs(x, twice, order=3, clip=False),
        **medical(x),
        "`tenter.skimage.resize(x, twice, order=3, clip=False)`": lambda: ours(x, twice, order=3, clip=False),
    }


def shrunk(side: int) -> Ways:
    from skimage.transform import resize as theirs

    x = volume(2 * side)
    half = (side,) * 3
    return {
        "`skimage.transform.resize(x, half, order=3)`": lambda: theirs(x, half, order=3),
        "`tenter.skimage.resize(x, half, order=3)`": lambda: ours(x, half, order=3),
    }


# Of each table: how the grid lies, and what is timed.
TABLES: dict[str, Callable[[int], Ways]] = {
    "To twice, the centers of corner voxels aligned": zoomed,
    "To twice, the edges of voxels aligned": resized,
    "To half, after a Gaussian": shrunk,
}


def volume(side: int) -> Any:
    return np.random.default_rng(0).random((side,) * 3, np.float32)


def trilinear(x: Any) -> Callable[[], Any]:
    t = torch.from_numpy(x)[None, None]
    how = {"scale_factor": 2, "mode": "trilinear", "align_corners": True}
    return lambda: torch.nn.functional.interpolate(t, **how)[0, 0].numpy()


def medical(x: Any) -> Ways:
    """SimpleITK and VTK, whose interpolators are B-splines of order 3, too."""
    found: Ways = {}
    n = x.shape[0]
    if (sitk := peers.module(MODULES["simpleitk"])) is not None:
        image = sitk.GetImageFromArray(x)
        how = ([2 * n] * 3, sitk.Transform(), sitk.sitkBSpline, [-0.25] * 3, [0.5] * 3, image.GetDirection())
        found["`SimpleITK.Resample(..., sitkBSpline)`"] = lambda: sitk.GetArrayFromImage(sitk.Resample(image, *how))
    if peers.module(MODULES["vtk"]) is not None:
        found["`vtkImageReslice` with `vtkImageBSplineInterpolator`"] = by_vtk(x)
    return found


def by_vtk(x: Any) -> Callable[[], Any]:
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkImagingCore import vtkImageBSplineCoefficients, vtkImageBSplineInterpolator, vtkImageReslice

    n = x.shape[0]
    image = vtkImageData()
    image.SetDimensions(n, n, n)
    image.GetPointData().SetScalars(numpy_to_vtk(x.reshape(-1)))

    def call() -> Any:
        coefficients, interpolator, reslice = (
            vtkImageBSplineCoefficients(), vtkImageBSplineInterpolator(), vtkImageReslice(),
        )  # fmt: skip
        for each in (coefficients, interpolator):
            each.SetSplineDegree(3)
        coefficients.SetBorderModeToMirror()
        coefficients.SetInputData(image)
        interpolator.SetBorderModeToMirror()
        reslice.SetInputConnection(coefficients.GetOutputPort())
        reslice.SetInterpolator(interpolator)
        reslice.SetOutputSpacing(0.5, 0.5, 0.5)
        reslice.SetOutputOrigin(-0.25, -0.25, -0.25)
        reslice.SetOutputExtent(0, 2 * n - 1, 0, 2 * n - 1, 0, 2 * n - 1)
        reslice.BorderOn()  # half a voxel beyond the outer centers belongs to the volume
        reslice.MirrorOn()
        reslice.Update()
        return vtk_to_numpy(reslice.GetOutput().GetPointData().GetScalars()).reshape(2 * n, 2 * n, 2 * n)

    return call


def check(ways: Ways) -> None:
    """All splines have the same values."""
    *_, last = ways
    want = ways[last]()
    for name, f in ways.items():
        if not name.startswith(TRILINEAR):
            np.testing.assert_allclose(f(), want, rtol=0, atol=1e-4, err_msg=name)


def table(side: int) -> str:
    parts = []
    for title, make in TABLES.items():
        parts += [
            f"{title}:",
            lined(["Way", "time", "last row, times faster", "peak memory, MiB"], cookbook.rows(make(side), check)),
        ]
    return "\n\n".join(parts)


def main(about: str) -> int:
    others = [f"{name} {version(name)}" for name in ("simpleitk", "vtk") if peers.module(MODULES[name]) is not None]
    size = f"float32, {SIDE} x {SIDE} x {SIDE} and {2 * SIDE} x {2 * SIDE} x {2 * SIDE}"
    made = table(SIDE)
    print(made)
    text = f"{', '.join([size, *others])}. Measured on {about}\n\n{made}"
    PAGE.write_text(between(PAGE, BEGIN, END, text), encoding="utf-8")
    return 0

"""Where the samples of volumes lie: units of each axis in every format, transformations of all levels, and positions by
the rules of other libraries."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, ran  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli import voxels
from tenter.cli.main import main
from tenter.cli.volumes import arrays
from tenter.cli.volumes.tiffs import open_tiff
from volume_helpers import _as_a_process_of_its_own, ome, placed, said, zarr  # noqa: F401

tifffile = pytest.importorskip("tifffile")
X = np.arange(4 * 6 * 8, dtype="u2").reshape(4, 6, 8)
METERS = {"nm": 1e-9, "µm": 1e-6, "mm": 1e-3, "m": 1.0, "Å": 1e-10, "in": 0.0254, "pm": 1e-12, "cm": 1e-2}
NAMES = {"nanometer": "nm", "micrometer": "µm", "millimeter": "mm", "meter": "m", "angstrom": "Å", "inch": "in"}
NAMES |= {"picometer": "pm", "centimeter": "cm"}
#: Units along z, y and x. None: pixels, which no program may take for a length.
UNITS = [
    ("Å", "nm", "Å"), ("µm", "nm", "nm"), ("nm", "nm", "nm"), ("mm", "µm", "µm"), ("µm", "µm", "µm"), ("Å", "pm", "nm"), ("in", "in", "in"),
    (None, None, None), (None, "µm", "µm"), ("cm", "mm", "m"),
]  # fmt: skip
SIZES = {"z": 2.0, "y": 500.0, "x": 250.0}


def in_meters(sizes: Any, units: Any) -> list[tuple[float, bool]]:
    """Sizes along z, y and x, in meters or in pixels."""
    return [
        (float(f"{size * METERS.get(unit, 1):.9g}"), unit is not None) for size, unit in zip(sizes, units, strict=True)
    ]


def of_zarr(name: str) -> list[tuple[float, bool]]:
    units = [NAMES[axis["unit"]] if "unit" in axis else None for axis in said(name)["multiscales"][0]["axes"]]
    return in_meters(placed(name)[0], units)


def of_tiff(name: str) -> list[tuple[float, bool]]:
    """As tifffile reads it: without a unit, OME's distances are micrometers."""
    with tifffile.TiffFile(name) as file:
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    units = [pixels.get(f"PhysicalSize{axis}Unit", "µm") for axis in "ZYX"]
    return in_meters([pixels[f"PhysicalSize{axis}"] for axis in "ZYX"], [None if u == "pixel" else u for u in units])


@in_one_test("units", sampled([(u,) for u in UNITS], 3))
def test_a_distance_is_the_same_length_in_every_format(units: Any, tmp_path: Path) -> None:
    want = in_meters(SIZES.values(), units)
    where = tmp_path / "_".join(map(str, units))
    where.mkdir()
    about = {f"PhysicalSize{axis.upper()}": size for axis, size in SIZES.items()}
    about |= {f"PhysicalSize{axis}Unit": unit or "pixel" for axis, unit in zip("ZYX", units)}
    tifffile.imwrite(f"{where}/in.ome.tif", X, ome=True, metadata={"axes": "ZYX", **about})
    for_zarr = {axis: next(name for name, u in NAMES.items() if u == unit) for axis, unit in zip("zyx", units) if unit}
    ome(f"{where}/own.zarr", X, scale=list(SIZES.values()), units=for_zarr)
    same = ["--axes", "x", "--scale", "1"]
    for source in ("in.ome.tif", "own.zarr"):
        assert main(["resize", f"{where}/{source}", f"{where}/{source}.zarr", *same]) == 0
        assert of_zarr(f"{where}/{source}.zarr") == want
        assert main(["resize", f"{where}/{source}.zarr", f"{where}/{source}.back.ome.tif", *same]) == 0
        assert of_tiff(f"{where}/{source}.back.ome.tif") == want
    assert main(["resize", f"{where}/in.ome.tif", f"{where}/same.ome.tif", *same]) == 0
    assert of_tiff(f"{where}/same.ome.tif") == want
    assert main(["resize", f"{where}/own.zarr", f"{where}/own.tif", *same]) == 0
    found = open_tiff(Path(f"{where}/own.tif")).voxel
    shorts = [{v: k for k, v in voxels.NAMED.items() if k in METERS}.get(found.units.get(n)) for n in "zyx"]
    if any(units):  # without a unit, ImageJ says nothing of x and y
        # Older versions of tifffile write rationals of fewer digits.
        lengths, known = zip(*in_meters([found.sizes[n] for n in "zyx"], shorts))
        assert lengths == pytest.approx([length for length, _ in want]) and known == tuple(k for _, k in want)


def test_voxels_of_several_units_become_isotropic_and_spaced_by_their_lengths(
    capsys: pytest.CaptureFixture[str],
) -> None:
    units = {"z": "micrometer", "y": "nanometer", "x": "nanometer"}
    ome("in.zarr", np.zeros((4, 40, 40), "u1"), scale=[2.0, 500.0, 500.0], units=units)
    assert main(["pyramid", "in.zarr", "p.zarr", "--levels", "1"]) == 0
    assert zarr.open_array("p.zarr/1").shape == (4, 20, 20)
    dry = ["resize", "in.zarr", "out.zarr", "--dry-run"]
    assert main([*dry, "--spacing", "1,1,1", "--axes", "z,y,x"]) == 0  # of three axes in micrometers
    assert "z 8, y 20, x 20; voxels 1 µm x 1000 nm x 1000 nm" in capsys.readouterr().out
    assert main([*dry, "--spacing", "1000,1000", "--axes", "y,x"]) == 0  # of two in their own unit
    assert "z 4, y 20, x 20; voxels 2 µm x 1000 nm x 1000 nm" in capsys.readouterr().out
    assert main([*dry, "--voxel-size", "1,1,1", "--scale", "1", "--axes", "z,y,x"]) == 0
    assert "voxels 1 x 1 x 1 µm (from" in capsys.readouterr().out
    tifffile.imwrite("in.tif", np.zeros((4, 40, 40), "u1"), imagej=True, resolution=(2e-3, 2e-3),
        metadata={"axes": "ZYX", "spacing": 2.0, "unit": "nm", "zunit": "um"})  # fmt: skip
    for axes, spacing, want in (("z,y,x", "1,1,1", "8, 20, 20"), ("y,x", "1000,1000", "20, 20"), ("-1", "250", "80")):
        assert main(["resize", "in.tif", "out.tif", f"--axes={axes}", "--spacing", spacing, "--force"]) == 0
        at = {"z,y,x": (0, 1, 2), "y,x": (1, 2), "-1": (2,)}[axes]
        assert ", ".join(str(tifffile.imread("out.tif").shape[axis]) for axis in at) == want


@pytest.mark.parametrize("format_", [2, 3])
def test_each_axis_keeps_its_unit(format_: int) -> None:
    units = {"z": "micrometer", "y": "nanometer", "x": "angstrom"}
    ome("in.zarr", np.zeros((4, 40, 40), "u1"), format_=format_, scale=[2.0, 500.0, 5000.0], units=units)
    full = said("in.zarr")["multiscales"][0]["axes"]
    assert main(["resize", "in.zarr", "out.zarr", "--axes", "y,x", "--scale", "0.5"]) == 0
    assert main(["pyramid", "in.zarr", "--levels", "1"]) == 0
    assert [said(name)["multiscales"][0]["axes"] for name in ("in.zarr", "out.zarr")] == [full] * 2
    assert placed("in.zarr")[0] == [2.0, 500.0, 5000.0] and placed("out.zarr")[0] == [2.0, 1000.0, 10000.0]
    assert main(["resize", "in.zarr", "out.ome.tif", "--axes", "x", "--scale", "1"]) == 0
    with tifffile.TiffFile("out.ome.tif") as file:
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    assert [pixels[f"PhysicalSize{axis}Unit"] for axis in "ZYX"] == ["µm", "nm", "Å"]


@pytest.mark.parametrize(
    "time", [("OME", "TimeIncrementUnit", "ms", "millisecond"), ("ImageJ", "tunit", "min", "minute")]
)
def test_the_time_between_frames_is_kept_with_its_unit(time: tuple[str, str, str, str]) -> None:
    program, key, unit, name = time
    about = {"OME": {"TimeIncrement": 0.5}, "ImageJ": {"finterval": 0.5}}[program] | {key: unit, "axes": "TYX"}
    tifffile.imwrite("in.tif", X, ome=program == "OME", imagej=program == "ImageJ", metadata=about)
    assert main(["resize", "in.tif", "out.zarr", "--axes", "t,y", "--scale", "0.5,1"]) == 0
    assert said("out.zarr")["multiscales"][0]["axes"][0] == {"name": "t", "type": "time", "unit": name}
    assert placed("out.zarr")[0][0] == 1.0
    for out in ("back.tif", "back.ome.tif"):
        assert main(["resize", "out.zarr", out, "--axes", "y", "--scale", "1"]) == 0
        found = open_tiff(Path(out)).voxel
        assert (found.sizes["t"], found.units["t"]) == (1.0, name)


def test_imagejs_distances_along_each_axis_and_resolution_tags_have_units() -> None:
    about = {"axes": "ZYX", "spacing": 2.0, "unit": "um", "zunit": "nm", "yunit": "mm"}
    tifffile.imwrite("in.tif", X, imagej=True, resolution=(4.0, 2.0), metadata=about)
    found = open_tiff(Path("in.tif")).voxel
    assert found.sizes == {"z": 2.0, "y": 0.5, "x": 0.25}
    assert found.units == {"z": "nanometer", "y": "millimeter", "x": "micrometer"}
    tifffile.imwrite("cm.tif", X, imagej=True, resolution=(100.0, 100.0), resolutionunit=3, metadata={"axes": "ZYX"})
    assert main(["resize", "cm.tif", "cm.zarr", "--axes", "x", "--scale", "1"]) == 0
    assert of_zarr("cm.zarr")[1:] == [(1e-4, True)] * 2


def test_words_beyond_ascii_in_a_stack_of_imagej_are_kept() -> None:
    about = {"axes": "ZYX", "unit": "xm", "spacing": 2.0, "Info": "grün"}
    tifffile.imwrite("in.tif", X, imagej=True, resolution=(4.0, 2.0), metadata=about)
    data = Path("in.tif").read_bytes()
    for unit in (b"\xb5m", b"um"):  # as older versions write it, without an escape
        Path("raw.tif").write_bytes(data.replace(b"unit=xm", b"unit=" + unit, 1))
        assert main(["resize", "raw.tif", "out.tif", "--axes", "x", "--scale", "0.5", "--force"]) == 0
        assert set(open_tiff(Path("out.tif")).voxel.units.values()) == {"micrometer"}
        assert tifffile.TiffFile("out.tif").imagej_metadata["Info"] == "grün"


def test_units_are_named_as_ome_zarr_names_them() -> None:
    spellings = {
        "µm": "micrometer", "um": "micrometer", "\u03bcm": "micrometer", "microns": "micrometer", "Micrometer": "micrometer",
        "micrometre": "micrometer", "micrometers": "micrometer", "nm": "nanometer", "Mm": "megameter", "mm": "millimeter",
        "MM": "millimeter", "A": "angstrom", "Å": "angstrom", "inch": "inch", "in": "inch", "s": "second", "sec": "second",
        "min": "minute", "pixel": None, "": None, "px": None, "furlong": "furlong", "\\u00B5m": "micrometer",
        "\\u00c5": "angstrom",
    }  # fmt: skip
    assert {text: voxels.unit_named(text) for text in spellings} == spellings
    assert voxels.LENGTHS["micrometer"] == Fraction(1, 10**6) and voxels.LENGTHS["kilometer"] == 1000


@pytest.mark.parametrize("format_", [2, 3])
def test_transformations_of_all_levels_are_part_of_each(format_: int) -> None:
    ome("in.zarr", np.zeros((4, 40, 40), "u1"), format_=format_, scale=[1.0, 2.0, 2.0], of_all=[2.0, 0.25, 0.25])
    assert main(["resize", "in.zarr", "out.zarr", "--axes", "z,y,x", "--spacing", "1,1,1"]) == 0
    assert zarr.open_array("out.zarr/0").shape == (8, 20, 20) and placed("out.zarr")[0] == [1.0, 1.0, 1.0]
    assert main(["resize", "in.zarr", "out.tif", "--axes", "z", "--scale", "1"]) == 0
    assert tifffile.TiffFile("out.tif").imagej_metadata["spacing"] == 2.0
    assert main(["pyramid", "in.zarr"]) == 0
    entry = said("in.zarr")["multiscales"][0]
    assert "coordinateTransformations" not in entry and placed("in.zarr")[0] == [2.0, 0.5, 0.5]
    assert placed("in.zarr", 1)[0] == [2.0, 1.0, 1.0]  # y and x first, as these are shorter


def test_transformations_to_other_coordinates_are_kept_and_are_no_voxel_sizes() -> None:
    ome("in.zarr", np.zeros((4, 40, 40), "u1"), of_all=[2.0, 0.25, 0.25])
    group = zarr.open_group("in.zarr")
    entry = said("in.zarr")["multiscales"][0]
    to = [{"type": "affine", "affine": [[1, 0]], "input": {"name": "zyx"}, "output": {"name": "global"}}]
    group.attrs.put({"ome": {"version": "0.5", "multiscales": [{**entry, "coordinateTransformations": to}]}})
    assert main(["pyramid", "in.zarr", "--levels", "1"]) == 0
    assert said("in.zarr")["multiscales"][0]["coordinateTransformations"] == to and placed("in.zarr")[0] == [1.0] * 3


@pytest.mark.parametrize("format_", [2, 3])
def test_a_dialect_keeps_its_version_within_its_group_and_a_new_group_is_plain(
    format_: int, capsys: pytest.CaptureFixture[str]
) -> None:
    says = {2: "0.4-dev-spatialdata", 3: "0.5-dev-spatialdata"}[format_]
    other = {"input": {"name": "yxz"}, "output": {"name": "global"}}
    scale, affine = {"type": "scale", "scale": [0.5, 0.25, 2.0]} | other, {"type": "affine", "affine": [[1]]} | other
    for name, axes, to in (("a", "zyx", [scale]), ("b", "zyx", [affine]), ("c", "yxz", [scale]), ("d", "zyx", [])):
        ome(f"{name}.zarr", np.zeros((4, 8, 8), "u1"), axes, format_)
        entry = said(f"{name}.zarr")["multiscales"][0] | ({"coordinateTransformations": to} if to else {})
        group = zarr.open_group(f"{name}.zarr")
        held = (
            {"multiscales": [{**entry, "version": says}]} if format_ == 2 else {"version": says, "multiscales": [entry]}
        )
        group.attrs.put(held if format_ == 2 else {"ome": held})
        assert main(["resize", f"{name}.zarr", f"{name}.out.zarr", "--axes", "y", "--scale", "0.5"]) == 0
        is_kept = name == "a"
        assert (said(f"{name}.out.zarr")["multiscales"][0].get("coordinateTransformations") == [scale]) == is_kept
        assert ("transformations to other coordinates" in capsys.readouterr().out) == (bool(to) and not is_kept)
        assert version_of(f"{name}.out.zarr") == says[:3]
        assert main(["pyramid", f"{name}.zarr", "--levels", "1"]) == 0
        assert version_of(f"{name}.zarr") == says
        assert said(f"{name}.zarr")["multiscales"][0].get("coordinateTransformations", []) == to
    group.attrs.put({"ome": {"version": "0.10", "multiscales": [{**entry, "version": None}]}})
    assert main(["pyramid", "d.zarr", "--force"]) == 2
    assert "is OME-Zarr of version 0.10, expected 0.1 to 0.5" in capsys.readouterr().err


def version_of(name: str) -> str:
    found = said(name)
    return found["multiscales"][0].get("version") or found["version"]


class Held:
    """An array in memory as what is on disk."""

    def __init__(self, x: Any) -> None:
        self.shape, self.dtype = x.shape, x.dtype


RULES = [
    (like, mode)
    for like in ("scipy", "torch", "opencv", "onnx", "pillow", "skimage", "jax", "tensorflow")
    for mode in ("linear", "nearest", "nearest-exact", "area")
    if mode in (tenter.conventions.PRESETS[like].modes or (mode,))
]


@in_one_test("like, mode", RULES)
def test_stated_positions_are_where_values_come_from(like: str, mode: str) -> None:
    for n, m in ((33, 50), (40, 20), (20, 40), (50, 33), (9, 9), (64, 16), (7, 3)):
        ramp = np.arange(float(n))
        how = {"mode": mode, "like": like}
        y = tenter.resize(ramp, m, axes=(0,), **how)
        ((first, step),) = arrays.resized(Held(ramp), [0], (m,), how)[1]
        off = y - (float(first) + float(step) * np.arange(m))
        if mode.startswith("nearest"):  # SciPy's repeats its last pixel beyond the edge
            assert abs(off[1:-1]).max(initial=0) <= 0.5 + 1e-9 and abs(off).max() <= 1, (n, m)
        else:
            inner = off[max(2, 2 * m // n) : -max(2, 2 * m // n)]
            assert abs(inner).max(initial=0) < (1e-4 if mode == "linear" and m >= n else 0.51), (n, m)
            assert abs(inner.mean() if len(inner) else 0) < 0.02, (n, m)


def test_a_box_states_where_it_was() -> None:
    ome("in.zarr", np.arange(40 * 40, dtype="f4").reshape(40, 40), axes="yx", scale=[2.0, 1.0])
    box = ["--box", "20x16+10+4"]
    assert main(["resize", "in.zarr", "out.zarr", "--axes", "y,x", "--size", "8", "10", *box, "--mode", "area"]) == 0
    assert placed("out.zarr") == ([4.0, 2.0], [9.0, 10.5])  # pixels 4 and 5, and 10 and 11
    assert np.isclose(zarr.open_array("out.zarr/0")[0, 0], 4.5 * 40 + 10.5)


def test_stated_positions_are_in_the_file() -> None:
    ome("in.zarr", np.broadcast_to(np.arange(33.0), (8, 33)).copy(), axes="yx")
    assert (
        main(["resize", "in.zarr", "out.zarr", "--axes", "x", "--size", "50", "--like", "scipy", "--mode", "linear"])
        == 0
    )
    (_, scale), (_, first) = placed("out.zarr")
    assert np.allclose(zarr.open_array("out.zarr/0")[4], np.arange(50) * scale + first)

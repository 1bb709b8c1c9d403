"""What the dims of volumes are taken for: by OME-Zarr's types, by their names, by what the user says; and the order in
which OME-Zarr has them. What is written passes a validator of the published specification."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, refused  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli.main import main
from volume_helpers import _as_a_process_of_its_own, elements, noise, ome, said, volume, zarr  # noqa: F401

LENGTHS = {"t": 2, "c": 3, "z": 8, "y": 10, "x": 12, "time": 2, "lat": 10, "lon": 12, "wavelength": 3, "channel": 3,
           "depth": 8, "height": 10, "width": 12, "latitude": 10, "longitude": 12, "band": 3, "q": 3, "lev": 8,
           "a": 8, "b": 10, "d": 12}  # fmt: skip
T, C, S = "time", "channel", "space"


def named(name: str, names: Any, format_: int = 3) -> Any:
    """A zarr array whose dims have names, zarr's own or xarray's."""
    x = noise(tuple(LENGTHS[n] for n in names), "uint8")
    how = {"dimension_names": names} if format_ == 3 else {"attributes": {"_ARRAY_DIMENSIONS": list(names)}}
    zarr.create_array(name, data=x, chunks=tuple(min(4, n) for n in x.shape), zarr_format=format_, **how)
    return x


def check_valid(name: str) -> None:
    """Have the published models of OME-Zarr read a group, its arrays and metadata."""
    models = pytest.importorskip("ome_zarr_models")
    group = zarr.open_group(name, mode="r")
    found = models.open_ome_zarr(group)
    assert found.ome_zarr_version == {2: "0.4", 3: "0.5"}[group.metadata.zarr_format]
    assert type(found).__name__ in ("Image", "ImageLabel")


KINDS = [
    (("time", "lat", "lon"), (T, S, S)), (("t", "y", "x"), (T, S, S)), (("wavelength", "y", "x"), (C, S, S)),
    (("time", "latitude", "longitude"), (T, S, S)), (("band", "height", "width"), (C, S, S)), (("q", "y", "x"), (None, S, S)),
    (("time", "channel", "depth", "height", "width"), (T, C, S, S, S)), (("a", "b", "d"), (S, S, S)),
    (("time", "lev", "lat", "lon"), (T, S, S, S)), (("t", "b", "d"), (T, S, S)), (("c", "a", "b", "d"), (C, S, S, S)),
]  # fmt: skip


@in_one_test("names, kinds", sampled(KINDS, 2))
def test_a_pyramid_shrinks_space_alone_and_says_what_it_took_for_what(
    names: Any, kinds: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = str(tmp_path / f"{'-'.join(names)}.zarr"), str(tmp_path / f"{'-'.join(names)}.ome.zarr")
    x = named(source, names, 2 if names[0] == "time" else 3)
    capsys.readouterr()
    assert main(["pyramid", source, out, "--levels", "1", "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file["axes"] == dict(zip(names, kinds))
    assert [axis.get("type") for axis in said(out)["multiscales"][0]["axes"]] == list(kinds)
    space = tuple(k for k, kind in enumerate(kinds) if kind == S)
    small = tuple(-(-x.shape[k] // 2) for k in space)
    assert np.array_equal(elements(f"{out}/1"), tenter.resize(x, small, axes=space, mode="area", like="opencv"))


def orders() -> list[tuple[str, ...]]:
    """Every order of every set of axes that OME-Zarr has."""
    sets = ("yx", "zyx", "cyx", "tyx", "czyx", "tzyx", "tcyx", "tczyx")
    return [("".join(p),) for s in sets for p in itertools.permutations(s)]


@in_one_test("axes", sampled(orders(), 60, always=lambda p: p == ("zcyx",)))
def test_axes_of_any_order_are_written_as_ome_zarr_has_them(axes: str, tmp_path: Path) -> None:
    x = named(str(tmp_path / f"{axes}.zarr"), list(axes), 2 if len(axes) == 4 else 3)
    out = str(tmp_path / f"{axes}.ome.zarr")
    assert main(["pyramid", str(tmp_path / f"{axes}.zarr"), out, "--levels", "1"]) == 0
    want = "".join(sorted(axes, key="tczyx".index))
    assert "".join(axis["name"] for axis in said(out)["multiscales"][0]["axes"]) == want
    order = [axes.index(n) for n in want]
    assert np.array_equal(elements(f"{out}/0"), x.transpose(order))
    if len(axes) == 4:
        assert zarr.open_array(f"{out}/1").attrs["_ARRAY_DIMENSIONS"] == list(want)
    assert zarr.open_array(f"{out}/0").chunks == tuple(min(4, x.shape[k]) for k in order)
    space = tuple(k for k, n in enumerate(want) if n in "zyx")
    small = tuple(-(-LENGTHS[want[k]] // 2) for k in space)
    half = tenter.resize(np.ascontiguousarray(x.transpose(order)), small, axes=space, mode="area", like="opencv")
    assert np.array_equal(elements(f"{out}/1"), half)
    check_valid(out)


def test_a_group_in_an_order_that_is_none_gets_no_levels_and_a_new_group_an_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ome("turned.zarr", noise((8, 8, 8), "uint8"), axes="xyz")  # which OME-Zarr allows, and does not recommend
    assert main(["pyramid", "turned.zarr", "--levels", "1"]) == 0
    capsys.readouterr()
    x = noise((8, 3, 10), "uint8")
    ome("in.zarr", x, axes="ycx")
    assert "its axes are y,c,x, an order that OME-Zarr does not have; with OUT, a new group" in refused(
        capsys, "pyramid", "in.zarr", "--levels", "1"
    )
    assert main(["resize", "in.zarr", "out.zarr", "--axes", "y,x", "--size", "4", "5", "--mode", "area"]) == 0
    assert np.array_equal(elements("out.zarr/0"), tenter.resize(x, (4, 5), axes=(0, 2), mode="area").transpose(1, 0, 2))
    check_valid("out.zarr")
    assert main(["resize", "in.zarr", "out.npy", "--axes", "0,2", "--size", "4", "5", "--mode", "area"]) == 0
    assert np.array_equal(np.load("out.npy"), tenter.resize(x, (4, 5), axes=(0, 2), mode="area"))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("t,time,y,x", "at most one of time"),
        ("c,q,y,x", "at most one of channels or of another kind, got c (channel), q (another kind)"),
        ("z,y", "expected 4 names, one for each dim"),
        ("z,z,y,x", "expected 4 names"),
        ("z,depth,y,x", "2 or 3 axes of space"),
    ],
)
def test_axes_that_no_ome_zarr_has_are_refused(capsys: pytest.CaptureFixture[str], names: str, words: str) -> None:
    volume("in.zarr", (4, 4, 8, 8), "uint8", (2, 2, 4, 4))
    assert words in refused(capsys, "pyramid", "in.zarr", "out.zarr", "--names", names)


VERSIONS: list[tuple[str, Any]] = [
    ("0.1", None), ("0.2", None), ("0.3", ["t", "c", "z", "y", "x"]), ("0.4", [{"name": n} for n in "tczyx"]),
]  # fmt: skip


@pytest.mark.parametrize(("version", "axes"), sampled(VERSIONS, 2))
def test_older_versions_are_written_as_the_one_of_their_zarr_format(version: str, axes: Any) -> None:
    ome("in.zarr", noise((1, 2, 8, 8, 8), "uint8"), axes="tczyx", format_=2)
    held = json.loads(Path("in.zarr/.zattrs").read_text())
    entry = {"version": version, "datasets": [{"path": "0"}], **({"axes": axes} if axes else {})}
    Path("in.zarr/.zattrs").write_text(json.dumps({**held, "multiscales": [entry]}))
    assert main(["pyramid", "in.zarr", "--levels", "1"]) == 0
    found = said("in.zarr")["multiscales"][0]
    assert found["version"] == "0.4" and [axis["type"] for axis in found["axes"]] == [T, C, S, S, S]
    assert elements("in.zarr/1").shape == (1, 2, 4, 4, 4)
    check_valid("in.zarr")


def test_a_version_that_is_not_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    ome("in.zarr", noise((8, 8, 8)))
    entry = said("in.zarr")["multiscales"][0]
    del entry["axes"]
    zarr.open_group("in.zarr").attrs.put(
        {"ome": {"version": "0.6", "multiscales": [{**entry, "coordinateSystems": []}]}}
    )
    assert "in.zarr: is OME-Zarr of version 0.6, expected 0.1 to 0.5" in refused(capsys, "pyramid", "in.zarr")


def test_metadata_of_version_0_4_in_zarr_3_is_written_as_0_5() -> None:
    ome("in.zarr", noise((8, 8, 8), "uint8"))
    held = json.loads(Path("in.zarr/zarr.json").read_text())
    entry = held["attributes"].pop("ome")["multiscales"][0]
    held["attributes"] |= {"multiscales": [{**entry, "version": "0.4"}], "mine": 1, "image-label": {"version": "0.4"}}
    Path("in.zarr/zarr.json").write_text(json.dumps(held))
    assert main(["pyramid", "in.zarr", "--levels", "1"]) == 0
    assert set(zarr.open_group("in.zarr").attrs) == {"ome", "mine"} and said("in.zarr")["image-label"] == {}
    check_valid("in.zarr")


@pytest.mark.parametrize(("shape", "names"), [((40, 36, 3), "yxc"), ((9, 40, 36, 4), "zyxc"), ((3, 40, 36), "zyx")])
def test_a_short_last_dim_without_a_name_is_of_channels_and_names_say_otherwise(
    capsys: pytest.CaptureFixture[str], shape: tuple[int, ...], names: str
) -> None:
    np.save("in.npy", x := noise(shape, "uint8"))
    assert main(["pyramid", "in.npy", "out.zarr", "--levels", "1"]) == 0
    order = tuple(sorted(range(len(shape)), key=lambda k: names[k] != "c"))
    assert np.array_equal(elements("out.zarr/0"), x.transpose(order)) and "a guess" in capsys.readouterr().out
    assert elements("out.zarr/1").shape == tuple(
        n if name == "c" else -(-n // 2) for n, name in ((shape[k], names[k]) for k in order)
    )
    assert main(["resize", "in.npy", "half.zarr", "--axes", "y,x", "--scale", "0.5"]) == 0
    assert elements("half.zarr").shape == tuple(n // 2 if name in "yx" else n for n, name in zip(shape, names))
    usual = "tczyx"[-len(shape) :]
    assert main(["pyramid", "in.npy", "said.zarr", "--levels", "1", "--names", ",".join(usual)]) == 0
    assert np.array_equal(elements("said.zarr/0"), x)


def test_names_belong_to_arrays_on_disk(capsys: pytest.CaptureFixture[str]) -> None:
    for args in (["resize", "in.png", "out.png", "--width", "4"], ["resize", "in.npy", "o.npy", "--size", "2x2"]):
        assert "--names: is for zarr arrays" in refused(capsys, *args, "--names", "y,x")
        assert "--no-labels: is for zarr arrays" in refused(capsys, *args, "--no-labels")
    ome("in.zarr", noise((4, 16, 16), "uint8"))
    assert "--names: goes with OUT" in refused(capsys, "pyramid", "in.zarr", "--names", "t,y,x")


def test_what_a_user_names_is_what_a_dim_is_taken_for() -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite("in.tif", x := noise((2, 6, 16, 20), "uint8"))  # whose first two dims nothing names
    assert main(["pyramid", "in.tif", "out.zarr", "--levels", "1", "--names", "t,c,y,x"]) == 0
    assert [axis["type"] for axis in said("out.zarr")["multiscales"][0]["axes"]] == [T, C, S, S]
    assert np.array_equal(elements("out.zarr/0"), x) and elements("out.zarr/1").shape == (2, 6, 8, 10)
    ome("space.zarr", noise((4, 16, 16), "uint8"))
    assert main(["pyramid", "space.zarr", "time.zarr", "--levels", "1", "--names", "t,y,x"]) == 0
    assert elements("time.zarr/1").shape == (4, 8, 8)
    check_valid("time.zarr")


def test_dims_without_names_are_refused_with_the_way_to_name_them(capsys: pytest.CaptureFixture[str]) -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite("in.tif", noise((2, 6, 16, 20), "uint8"))
    assert "--names says what they are" in refused(capsys, "pyramid", "in.tif", "out.zarr")
    zarr.create_group("root.zarr")
    ome("root.zarr/0", noise((8, 8, 8), "uint8"))
    assert "such as root.zarr/0 has" in refused(capsys, "pyramid", "root.zarr")


def test_a_field_of_a_plate_is_an_image_and_the_plate_names_one(capsys: pytest.CaptureFixture[str]) -> None:
    x = noise((8, 16, 16), "uint8")
    for group in ("plate.zarr", "plate.zarr/A", "plate.zarr/A/1"):
        zarr.create_group(group, zarr_format=2)
    ome("plate.zarr/A/1/0", x, format_=2)
    assert "such as plate.zarr/A/1/0 has" in refused(capsys, "pyramid", "plate.zarr")
    assert main(["pyramid", "plate.zarr/A/1/0", "--levels", "1"]) == 0
    assert np.array_equal(
        elements("plate.zarr/A/1/0/1"), tenter.resize(x, (4, 8, 8), axes=(0, 1, 2), mode="area", like="opencv")
    )
    check_valid("plate.zarr/A/1/0")

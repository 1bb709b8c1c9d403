"""Labels and masks are never averaged, are stored with their image, and what a result does not keep is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, ran, refused  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from volume_helpers import (
    _as_a_process_of_its_own,  # noqa: F401
    consolidate,
    elements,
    hidden,
    noise,
    ome,
    placed,
    said,
    volume,
    zarr,
)

tifffile = pytest.importorskip("tifffile")
LABELS = (np.random.default_rng(0).integers(0, 9, (8, 16, 16)) * 20).astype("u1")


def labels(marked: str, format_: int) -> str:
    """The path of an array or a group that is of labels, by what its metadata says."""
    if marked == "mask":
        zarr.create_array("mask.zarr", data=LABELS > 90, chunks=(4, 8, 8), zarr_format=format_)
        return "mask.zarr"
    if marked == "image-label":
        ome("in.zarr", LABELS, format_=format_, **{"image-label": {"version": "0.4"} if format_ == 2 else {}})
        return "in.zarr"
    ome("vol.zarr", LABELS, format_=format_)
    listed: Any = {"labels": ["cells"]}
    listed = {"ome": {"version": "0.5", **listed}} if format_ == 3 else listed
    zarr.create_group("vol.zarr/labels", zarr_format=format_, attributes=listed)
    ome("vol.zarr/labels/cells", LABELS, format_=format_)
    return "vol.zarr/labels/cells/0" if marked == "level" else "vol.zarr/labels/cells"


MARKED = [(m, f) for m in ("image-label", "listed", "level", "mask") for f in (2, 3)]


@pytest.mark.parametrize(("marked", "format_"), sampled(MARKED, 3))
def test_labels_are_labels_by_their_metadata(capsys: pytest.CaptureFixture[str], marked: str, format_: int) -> None:
    path = labels(marked, format_)
    x = LABELS > 90 if marked == "mask" else LABELS
    assert main(["resize", path, "out.zarr", "--axes", "z,y,x", "--scale", "0.5"]) == 0
    y = elements(
        "out.zarr/0" if Path("out.zarr/0").is_dir() and not marked.startswith(("level", "mask")) else "out.zarr"
    )
    assert np.array_equal(y, tenter.resize(x, y.shape, axes=(0, 1, 2), mode="nearest-exact"))
    assert "no value is averaged" in capsys.readouterr().out
    assert main(["pyramid", path, "p.zarr", "--levels", "1"]) == 0
    assert np.array_equal(elements("p.zarr/1"), x[::2, ::2, ::2])
    assert ("image-label" in said("p.zarr")) == (marked != "mask")
    assert main(["pyramid", path, "m.zarr", "--levels", "1", "--labels", "--mode", "area"]) == 0
    assert set(np.unique(elements("m.zarr/1"))) <= set(np.unique(x))
    assert main(["pyramid", path, "v.zarr", "--levels", "1", "--mode", "linear"]) == 0
    assert np.array_equal(elements("v.zarr/1"), tenter.resize(x, (4, 8, 8), labels=True))
    capsys.readouterr()
    if marked != "mask":  # which has no means
        assert main(["pyramid", path, "a.zarr", "--levels", "1", "--no-labels"]) == 0
        assert np.array_equal(
            elements("a.zarr/1"), tenter.resize(x, (4, 8, 8), axes=(0, 1, 2), mode="area", like="opencv")
        )
        capsys.readouterr()
    assert "--no-labels: does not go with" in refused(capsys, "pyramid", path, "o.zarr", "--no-labels", "--labels")


@pytest.mark.parametrize(("format_", "made"), sampled([(f, m) for f in (2, 3) for m in ("same", "small")], 3))
def test_labels_are_stored_with_their_image(format_: int, made: str) -> None:
    models = pytest.importorskip("ome_zarr_models")
    units = dict.fromkeys("zyx", "micrometer")
    ome("vol.zarr", noise((2, 8, 16, 16)), "czyx", format_, [1.0, 2.0, 0.5, 0.5], units)
    assert main(["pyramid", "vol.zarr", "--levels", "2"]) == 0
    consolidate("vol.zarr", format_)
    x = LABELS if made == "same" else np.ascontiguousarray(LABELS[:, ::2, ::2])
    tifffile.imwrite("cells.tif", x)
    np.save("more.npy", x)
    for source, name in (("cells.tif", "cells"), ("more.npy", "more")):
        assert main(["pyramid", source, f"vol.zarr/labels/{name}", "--labels"]) == 0
    for name in ("cells", "more"):
        group = f"vol.zarr/labels/{name}"
        assert np.array_equal(elements(f"{group}/0"), x)
        scale = [2.0, 0.5, 0.5] if made == "same" else [2.0, 1.0, 1.0]
        assert placed(group) == (scale, [0.0] * 3 if made == "same" else [0.0, 0.25, 0.25])
        assert said(group)["image-label"]["source"] == {"image": "../../"}
        assert len(said(group)["multiscales"][0]["datasets"]) == 3  # as many as the image has
        assert type(models.open_ome_zarr(zarr.open_group(group, mode="r"))).__name__ == "ImageLabel"
    assert said("vol.zarr/labels")["labels"] == ["cells", "more"]
    whole = zarr.open_group("vol.zarr", mode="r")
    assert whole.metadata.consolidated_metadata is not None and "labels/more/2" in set(
        whole.metadata.consolidated_metadata.flattened_metadata
    )
    assert type(models.open_ome_zarr(whole)).__name__ == "Image" and not hidden()
    if made == "same":
        shapes = [zarr.open_array(f"vol.zarr/{k}").shape[1:] for k in range(3)]
        assert [zarr.open_array(f"vol.zarr/labels/cells/{k}").shape for k in range(3)] == shapes


@pytest.mark.parametrize("step", ["make_group", "enter"])
def test_labels_that_were_cut_off_on_their_way_into_the_image_get_there(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from tenter.cli.volumes import labels as module

    def cut_off(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    ome("vol.zarr", noise((8, 16, 16)))
    np.save("x.npy", LABELS)
    with monkeypatch.context() as patched:
        patched.setattr(module, step, cut_off)
        assert main(["pyramid", "x.npy", "vol.zarr/labels/a"]) == 2
    assert "labels" not in said("vol.zarr/labels" if step == "enter" else "vol.zarr")
    assert main(["pyramid", "x.npy", "vol.zarr/labels/a"]) == 0
    assert said("vol.zarr/labels")["labels"] == ["a"] and np.array_equal(elements("vol.zarr/labels/a/0"), LABELS)
    assert not hidden()


def test_labels_of_another_zarr_format_get_that_of_their_image() -> None:
    ome("vol.zarr", noise((8, 16, 16)), format_=2)
    zarr.create_array("in.zarr", data=LABELS, chunks=(4, 8, 8), attributes={"mine": 1})
    done = ran("pyramid", "in.zarr", "vol.zarr/labels/a")
    assert "not kept: codecs, attributes (mine)" in done.stdout
    made = zarr.open_array("vol.zarr/labels/a/0")
    assert made.metadata.zarr_format == 2 and made.chunks == (8, 8, 8) and np.array_equal(made[...], LABELS)


def test_labels_of_an_image_are_refused_where_it_could_not_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    ome("vol.zarr", noise((8, 16, 16)))
    np.save("x.npy", LABELS)
    np.save("f.npy", LABELS.astype("f4"))
    np.save("m.npy", LABELS > 9)
    for args, words in [
        (("f.npy", "vol.zarr/labels/a"), "vol.zarr/labels/a: labels: expected integers, got float32"),
        (("m.npy", "vol.zarr/labels/a"), "labels: expected integers, got bool"),
        (("x.npy", "vol.zarr/label/a"), "or is in the labels of an OME-Zarr image"),
        (("x.npy", "vol.zarr/labels/a", "--levels", "4"), "--levels: expected 0 for labels, as of the image"),
    ]:
        assert words in refused(capsys, "pyramid", *args)
    assert main(["pyramid", "x.npy", "vol.zarr/labels/a"]) == 0
    capsys.readouterr()
    assert "exists already" in refused(capsys, "pyramid", "x.npy", "vol.zarr/labels/a")
    assert main(["pyramid", "x.npy", "vol.zarr/labels/a", "--force"]) == 0
    assert said("vol.zarr/labels")["labels"] == ["a"]
    capsys.readouterr()
    assert main(["pyramid", "vol.zarr"]) == 0
    assert "its labels a have another number of levels" in capsys.readouterr().out


CHANNELS = {"channels": [{"color": "FF0000", "window": {"start": 0, "end": 9, "min": 0, "max": 9}}] * 2}
RESIZE = ["--axes", "y,x", "--scale", "0.5"]


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (["pyramid", "in.zarr", "out.zarr"], ["labels (cells)", "tables", "the image of the labels"]),
        (["resize", "in.zarr", "out.zarr", "--axes", "c", "--size", "1"],
         ["labels (cells)", "tables", "channels of omero", "the image of the labels"]),
        (["resize", "in.zarr", "out.tif", *RESIZE],
         ["labels (cells)", "tables", "the place of the first voxel", "attributes (image-label, mine, omero)"]),
        (["resize", "in.zarr", "out.npy", *RESIZE],
         ["labels (cells)", "tables", "axes and voxel sizes", "attributes (image-label, mine, omero)"]),
        (["repeat", "in.zarr", "out.zarr", "--repeats", "2", "--dim", "1"],
         ["labels (cells)", "tables", "axes and voxel sizes", "attributes (image-label, mine, omero)"]),
        (["resize", "ij.tif", "out.zarr", *RESIZE], ["ImageJ metadata (Info, Labels, mode)"]),
        (["resize", "ij.tif", "out.tif", "--axes", "z", "--scale", "0.5"], ["ImageJ's labels of slices"]),
        (["resize", "ome.tif", "out.zarr", *RESIZE], ["OME annotations (Fluor)", "OME metadata (Channel)"]),
        (["resize", "ome.tif", "out.tif", *RESIZE], ["OME annotations (Fluor)"]),
        (["resize", "tags.tif", "out.zarr", *RESIZE], ["color profile", "TIFF tags (Artist)"]),
        (["resize", "tags.tif", "out.tif", *RESIZE], ["color profile", "TIFF tags (Artist)"]),
        (["resize", "two.tif", "out.zarr", *RESIZE], ["further series of the file"]),
    ],
)  # fmt: skip
def test_what_is_not_kept_is_named(command: list[str], kept: list[str]) -> None:
    x = noise((2, 8, 8), "uint8")
    if "in.zarr" in command:
        steps = {"image-label": {"source": {"image": "../../"}}, "omero": CHANNELS}
        ome("in.zarr", x, "cyx", **steps)
        held = json.loads(Path("in.zarr/zarr.json").read_text())
        held["attributes"]["mine"] = 1
        step = held["attributes"]["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"]
        step.append({"type": "translation", "translation": [0.0, 3.0, 0.0]})
        Path("in.zarr/zarr.json").write_text(json.dumps(held))
        zarr.create_group("in.zarr/labels")
        zarr.create_group("in.zarr/tables")
        ome("in.zarr/labels/cells", x, "cyx")
        command = [*command, "--no-labels"] if command[0] == "resize" else command
        command = [*command, "--levels", "1"] if command[0] == "pyramid" else command
    if "ij.tif" in command:
        about = {"axes": "ZYX", "spacing": 2.0, "unit": "um", "Info": "i", "Labels": ["a", "b"]}
        tifffile.imwrite("ij.tif", x, imagej=True, metadata=about)
    if "ome.tif" in command:
        about = {"axes": "CYX", "Channel": {"Name": ["a", "b"], "Fluor": ["c", "d"]}}
        tifffile.imwrite("ome.tif", x, ome=True, metadata=about)
    if "tags.tif" in command:
        tifffile.imwrite("tags.tif", x, extratags=[(315, 2, 0, "me", True)], iccprofile=b"\0" * 132)
    if "two.tif" in command:
        with tifffile.TiffWriter("two.tif") as writer:
            writer.write(x)
            writer.write(x[0])
    done = ran(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().partition("not kept: ")[2] == ", ".join(kept)


@pytest.mark.parametrize(
    ("format_", "command"), sampled([(f, c) for f in (3, 2) for c in ("within", "resize", "beside")], 4)
)
def test_consolidated_metadata_of_every_group_around_a_result_is_made_again(format_: int, command: str) -> None:
    zarr.create_group("root.zarr", zarr_format=format_)
    zarr.create_group("root.zarr/b", zarr_format=format_)
    ome("root.zarr/b/in", noise((8, 16, 16)), format_=format_)
    consolidate("root.zarr", format_)
    args = {
        "within": ["pyramid", "root.zarr/b/in", "--levels", "1"],
        "beside": ["pyramid", "root.zarr/b/in", "root.zarr/b/out.zarr", "--levels", "1"],
        "resize": ["resize", "root.zarr/b/in", "root.zarr/b/out.zarr", "--axes", "y", "--scale", ".5"],
    }[command]
    assert main(args) == 0
    found = zarr.open_group("root.zarr", mode="r").metadata.consolidated_metadata.flattened_metadata
    new = {"within": "b/in/1", "beside": "b/out.zarr/1", "resize": "b/out.zarr/0"}[command]
    assert new in found and not hidden()


# ---- stacks as tifffile writes them


@pytest.mark.parametrize(
    ("shape", "about"),
    [((6, 16, 20), None), ((2, 6, 16, 20), {"axes": "TZYX", "mine": 3}), ((6, 16, 20), {"axes": "ZYX"}), ((1, 6, 16, 20), None)],
)  # fmt: skip
@pytest.mark.parametrize("compression", sampled([None, "zlib"], 2))
def test_a_stack_of_tifffile_stays_one(shape: tuple[int, ...], about: Any, compression: Any) -> None:
    x = noise(shape)
    tifffile.imwrite("in.tif", x, metadata=about or {}, compression=compression)
    assert main(["resize", "in.tif", "out.tif", "--scale", "0.5"]) == 0
    half = (len(shape) - 2, len(shape) - 1)
    np.testing.assert_array_equal(tifffile.imread("out.tif").reshape(*shape[:-2], 8, 10),
                                  tenter.resize(x, (8, 10), axes=half, antialias=True, like="torch"))  # fmt: skip
    with tifffile.TiffFile("in.tif") as before, tifffile.TiffFile("out.tif") as after:
        assert after.series[0].axes == before.series[0].axes
        assert after.pages[0].compression == before.pages[0].compression
        said = json.loads(after.pages[0].description)
        assert said.pop("shape") == [*shape[:-2], 8, 10] and said == (about or {})
    if len(shape) == 3:
        assert main(["pyramid", "out.tif", "out.zarr", "--levels", "1"]) == 0
        assert elements("out.zarr/0").shape == (6, 8, 10)


@pytest.mark.parametrize("said", [[6, 32, 40], [32, 40], [12, 32, 40]])
def test_a_description_of_other_sizes_is_not_believed(said: list[int]) -> None:
    x = noise((6, 16, 20))
    with tifffile.TiffWriter("in.tif", shaped=False) as writer:
        for page in x:
            about = json.dumps({"shape": said})
            writer.write(page, metadata=None, description=about, contiguous=False, photometric="minisblack")
    assert main(["pyramid", "in.tif", "out.zarr", "--levels", "1"]) == 0
    assert np.array_equal(elements("out.zarr/0"), x)


def test_a_small_job_fits_a_small_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr", (16, 16, 16), "uint8")
    half = ["resize", "in.zarr", "out.zarr", "--axes", "0", "--scale", ".5", "--memory-limit"]
    said = refused(capsys, *half, "110MiB")  # the tests say that the program takes 100 MiB
    assert "too little: the program takes 100 MiB, and up to 16" in said
    assert main([*half, "120MiB"]) == 0


@pytest.mark.parametrize(
    "said",
    sampled([
        {"labels": ["../../in.zarr", "a/b", 5, None, "none"]}, {"labels": "cells"}, {"labels": {"cells": 1}},
        {"omero": 5}, {"omero": {"channels": 5}}, {"image-label": 5}, {"image-label": None}, {"image-label": {"source": 5}},
    ], 4),
)  # fmt: skip
def test_metadata_of_any_form_is_carried_or_refused(said: Any) -> None:
    ome("in.zarr", LABELS, format_=2, **(said if "labels" not in said else {}))
    zarr.create_group("in.zarr/labels", zarr_format=2, attributes=said)
    ome("in.zarr/labels/cells", LABELS, format_=2, **(said if "labels" not in said else {}))
    np.save("x.npy", LABELS)
    for args in (["in.zarr", "out.zarr"], ["in.zarr"], ["in.zarr/labels/cells"], ["x.npy", "in.zarr/labels/more"]):
        done = ran("pyramid", *args, "--levels", "1")
        assert done.returncode in (0, 2) and done.stderr.count("\n") == done.returncode // 2, done.stderr
        assert "Error" not in done.stderr

"""`tenter pyramid`: levels that an independent reader finds, lined up, and with the values of `tenter.resize`."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, refused  # noqa: F401
from sweeps import sampled
from tenter.cli.main import main
from volume_helpers import elements, hidden, noise, volume, zarr


def group(name: str, format_: int, x: Any, scale: list[float], translation: list[float]) -> None:
    """An OME-Zarr group with one level, in micrometers."""
    axes = [{"name": n, "type": k, **({"unit": "micrometer"} if k == "space" else {})}
            for n, k in (("c", "channel"), ("z", "space"), ("y", "space"), ("x", "space"))]  # fmt: skip
    steps = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": translation}]
    entry = {"name": "brain", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": steps}]}
    omero = {"channels": [{"color": "FF0000", "window": {"start": 0, "end": 9, "min": 0, "max": 9}, "label": "a"}] * 2}
    if format_ == 2:
        held = {"multiscales": [{**entry, "version": "0.4"}], "omero": omero}
    else:
        held = {"ome": {"version": "0.5", "multiscales": [entry], "omero": omero}}
    zarr.create_group(name, zarr_format=format_, attributes={**held, "mine": 1})
    separator = {"chunk_key_encoding": {"name": "v2", "separator": "/"}}
    of_format = separator if format_ == 2 else {"dimension_names": ("c", "z", "y", "x")}
    zarr.create_array(f"{name}/0", data=x, chunks=(1, 8, 8, 8), zarr_format=format_, **of_format)


def entry_of(name: str) -> dict[str, Any]:
    attributes = dict(zarr.open_group(name, mode="r").attrs)
    return attributes.get("ome", attributes)["multiscales"][0]


def steps_of(level: dict[str, Any]) -> tuple[list[float], list[float]]:
    scale, translation = level["coordinateTransformations"]
    return scale["scale"], translation["translation"]


@pytest.mark.parametrize(
    "how, format_", sampled(itertools.product([[], ["--mode", "linear"], ["--labels"]], [2, 3]), 6)
)
def test_levels_within_a_group(format_: int, how: list[str]) -> None:
    x = noise((2, 16, 33, 40), "uint16")
    group("in.zarr", format_, x, [1.0, 2.0, 0.5, 0.25], [0.0, 10.0, 0.0, -3.0])
    assert main(["pyramid", "in.zarr", "--factor", "2", *how]) == 0
    given = {"--labels": {"mode": "nearest", "like": "onnx"}, "linear": {"antialias": True}}
    rule = given.get(how[-1] if how else "", {"mode": "area", "like": "opencv"})
    for level, sizes in (("1", (8, 17, 20)), ("2", (4, 9, 10)), ("3", (2, 5, 5))):
        x = tenter.resize(x, sizes, axes=(1, 2, 3), **rule)
        assert elements(f"in.zarr/{level}").tobytes() == x.tobytes()
        assert zarr.open_array(f"in.zarr/{level}").chunks == (1, *(min(8, n) for n in sizes))
    attributes = dict(zarr.open_group("in.zarr").attrs)
    assert attributes["mine"] == 1 and "omero" in attributes.get("ome", attributes)
    assert ("image-label" in attributes.get("ome", attributes)) == (how == ["--labels"])
    assert not hidden()


@pytest.mark.parametrize("format_", sampled([3, 2], 2))
def test_edges_of_all_levels_line_up(format_: int) -> None:
    scale, translation = [1.0, 2.0, 0.5, 0.25], [0.0, 10.0, 0.0, -3.0]
    shape = (2, 16, 33, 40)
    group("in.zarr", format_, noise(shape, "uint8"), scale, translation)
    assert main(["pyramid", "in.zarr", "--factor", "2"]) == 0
    entry = entry_of("in.zarr")
    assert entry["name"] == "brain" and entry["axes"][1] == {"name": "z", "type": "space", "unit": "micrometer"}
    first = [t - s / 2 for s, t in zip(scale, translation)]
    last = [t + s * (n - 0.5) for s, t, n in zip(scale, translation, shape)]
    assert [level["path"] for level in entry["datasets"]] == ["0", "1", "2", "3"]
    for level in entry["datasets"]:
        s, t = steps_of(level)
        lengths = zarr.open_array(f"in.zarr/{level['path']}").shape
        assert np.allclose([b - a / 2 for a, b in zip(s, t)], first, rtol=0, atol=1e-12)
        assert np.allclose([b + a * (n - 0.5) for a, b, n in zip(s, t, lengths)], last, rtol=1e-14)
    assert steps_of(entry["datasets"][1]) == ([1.0, 4.0, 0.5 * 33 / 17, 0.5], [0.0, 11.0, 0.25 * 16 / 17, -2.875])


def test_a_ramp_stays_where_it_is() -> None:
    """What a viewer shows at a place is the same on every level: here the place itself."""
    x = np.broadcast_to(np.arange(64, dtype="f4")[:, None], (64, 64)) * 0.5 + 7
    zarr.create_array("in.zarr", data=np.ascontiguousarray(x), chunks=(8, 8))
    assert main(["pyramid", "in.zarr", "out.ome.zarr", "--factor", "4"]) == 0
    for level in entry_of("out.ome.zarr")["datasets"]:
        (scale, _), (begin, _) = steps_of(level)
        y = elements(f"out.ome.zarr/{level['path']}")[:, 0]
        assert np.allclose(y, (np.arange(len(y)) * scale + begin) * 0.5 + 7)


@pytest.mark.parametrize("factor, picked", sampled([(3, 1), (2, 0), (4, 1), (5, 2)], 4))
def test_labels_are_those_at_centers(factor: int, picked: int) -> None:
    x = np.arange(60 * 60, dtype="u4").reshape(60, 60)
    zarr.create_array("in.zarr", data=x, chunks=(8, 8))
    assert main(["pyramid", "in.zarr", "out.zarr", "--labels", "--factor", str(factor), "--levels", "1"]) == 0
    assert np.array_equal(elements("out.zarr/1"), x[picked::factor, picked::factor])
    assert np.array_equal(elements("out.zarr/0"), x)


@pytest.mark.parametrize("source", sampled(["fortran", "npy", "v2", "v3", "sharded"], 4))
def test_a_new_group_of_an_array(source: str) -> None:
    x = noise((20, 24, 28), "float32")
    name = "in.npy" if source in ("npy", "fortran") else "in.zarr"
    if name == "in.npy":
        np.save(name, np.asfortranarray(x) if source == "fortran" else x)
    else:
        more = {"v2": {"zarr_format": 2}, "sharded": {"shards": (8, 16, 16)}}.get(source, {})
        volume(name, x.shape, "float32", **more)
        x = elements(name)
    assert main(["pyramid", name, "out.zarr", "--levels", "2", "--axes", "y,x"]) == 0
    assert np.array_equal(elements("out.zarr/0"), x)
    half = tenter.resize(x, (12, 14), axes=(1, 2), mode="area", like="opencv")
    assert np.array_equal(elements("out.zarr/1"), half)
    assert np.array_equal(elements("out.zarr/2"), tenter.resize(half, (6, 7), axes=(1, 2), mode="area", like="opencv"))
    assert [axis["name"] for axis in entry_of("out.zarr")["axes"]] == ["z", "y", "x"]


def test_levels_are_replaced_only_by_force(capsys: pytest.CaptureFixture[str]) -> None:
    group("in.zarr", 3, noise((2, 16, 16, 40)), [1.0] * 4, [0.0] * 4)
    assert main(["pyramid", "in.zarr"]) == 0
    capsys.readouterr()
    assert "has levels already (0, 1, 2, 3); --force replaces them" in refused(capsys, "pyramid", "in.zarr")
    assert main(["pyramid", "in.zarr", "--force", "--factor", "4"]) == 0
    assert sorted(path.name for path in Path("in.zarr").iterdir()) == ["0", "1", "2", "zarr.json"]
    assert [level["path"] for level in entry_of("in.zarr")["datasets"]] == ["0", "1", "2"]


def test_consolidated_metadata_is_made_again() -> None:
    group("in.zarr", 2, noise((2, 16, 16, 40)), [1.0] * 4, [0.0] * 4)
    zarr.consolidate_metadata("in.zarr", zarr_format=2)
    assert main(["pyramid", "in.zarr"]) == 0
    held = json.loads(Path("in.zarr/.zmetadata").read_text())["metadata"]
    assert "3/.zarray" in held and len(held[".zattrs"]["multiscales"][0]["datasets"]) == 4


def test_a_resized_group_says_where_its_pixels_lie() -> None:
    x = noise((2, 16, 20, 40))
    group("in.zarr", 3, x, [1.0, 2.0, 0.5, 0.25], [0.0, 10.0, 0.0, -3.0])
    assert main(["resize", "in.zarr", "out.zarr", "--size", "8", "30", "--axes", "z,y", "--mode", "area"]) == 0
    assert np.array_equal(elements("out.zarr/0"), tenter.resize(x, (8, 30), axes=(1, 2), mode="area"))
    (level,) = entry_of("out.zarr")["datasets"]
    assert steps_of(level) == ([1.0, 4.0, 0.5 * 2 / 3, 0.25], [0.0, 11.0, 0.5 * -1 / 6, -3.0])


def test_a_bare_array_gets_a_group_beside_it() -> None:
    x = volume("in.zarr", (40, 40), chunks=(8, 8))
    assert main(["pyramid", "in.zarr"]) == 0
    first, second = (elements(f"in.ome.zarr/{level['path']}") for level in entry_of("in.ome.zarr")["datasets"][:2])
    assert np.array_equal(first, x) and np.array_equal(second, tenter.resize(x, (20, 20), mode="area"))


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr", (40, 40), "float32", chunks=(8, 8))
    volume("line.zarr", (40,), "float32", chunks=(8,))
    group("group.zarr", 3, noise((2, 16, 16, 40)), [1.0] * 4, [0.0] * 4)
    for args, said in [
        (("in.zarr", "out.zarr", "--labels"), "--labels: expected integers, got float32"),
        (("line.zarr", "out.zarr"), "2 to 5 axes"),
        (("in.zarr", "out.npy"), "ends in .zarr"),
        (("in.zarr", "out.zarr", "--factor", "1"), "at least 2, got 1"),
        (("in.zarr", "out.zarr", "--levels", "0"), "1 to 32 levels"),
        (("in.zarr", "out.zarr", "--axes", "q"), "names of axes (y, x), got 'q'"),
        (("group.zarr", "--chunks", "4,4,4,4"), "--chunks: goes with OUT"),
        (("in.npy", "out.zarr", "--axes", "0"), "fits one chunk already"),
    ]:  # fmt: skip
        assert said in refused(capsys, "pyramid", *args)
    group("taken.zarr", 3, noise((2, 16, 16, 40)), [1.0] * 4, [0.0] * 4)
    shutil.copytree("in.zarr", "taken.zarr/1")
    assert "exists and is not one of the levels" in refused(capsys, "pyramid", "taken.zarr", "--force")


@pytest.mark.slow
@pytest.mark.parametrize("format_", [2, 3])
def test_an_independent_reader_finds_the_levels(format_: int) -> None:
    models = pytest.importorskip("ome_zarr_models")
    x = noise((2, 16, 33, 40), "uint16")
    group("in.zarr", format_, x, [1.0, 2.0, 0.5, 0.25], [0.0, 10.0, 0.0, -3.0])
    volume("plain.zarr", zarr_format=format_)
    assert main(["pyramid", "in.zarr"]) == 0 and main(["pyramid", "plain.zarr", "new.zarr"]) == 0
    for name, n in (("in.zarr", 5), ("new.zarr", 3)):
        found = models.open_ome_zarr(zarr.open_group(name, mode="r"))  # validates groups, arrays and metadata
        assert type(found).__name__ == "Image" and found.ome_zarr_version == {2: "0.4", 3: "0.5"}[format_]
        held = found.attributes if format_ == 2 else found.attributes.ome
        assert len(held.multiscales[0].datasets) == n


@pytest.mark.slow
@pytest.mark.parametrize("format_", [2, 3])
def test_readers_of_pixels_find_the_levels(format_: int) -> None:
    reader = pytest.importorskip("ome_zarr.reader")
    from ome_zarr.io import parse_url

    group("in.zarr", format_, noise((2, 16, 33, 40), "uint16"), [1.0, 2.0, 0.5, 0.25], [0.0, 10.0, 0.0, -3.0])
    assert main(["pyramid", "in.zarr", "--factor", "2"]) == 0
    (node, *_) = reader.Reader(parse_url("in.zarr"))()
    assert [level.shape for level in node.data] == [(2, 16, 33, 40), (2, 8, 17, 20), (2, 4, 9, 10), (2, 2, 5, 5)]
    for k, level in enumerate(node.data):
        assert np.array_equal(level.compute(), elements(f"in.zarr/{k}"))
        assert (
            node.metadata["coordinateTransformations"][k]
            == entry_of("in.zarr")["datasets"][k]["coordinateTransformations"]
        )
    ngff = pytest.importorskip("ngff_zarr")
    found = ngff.from_ngff_zarr("in.zarr", validate=False)
    assert found.images[1].scale["y"] == 0.5 * 33 / 17 and found.images[1].translation["z"] == 11.0

"""`tenter.volumes.pyramid`: what `tenter pyramid` does, for arrays and stores of any kind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from sweeps import in_one_test, sampled
from tenter.cli.main import main
from tenter.volumes import pyramid
from volume_helpers import elements, hidden, noise, ome, tree, volume, zarr

MemoryStore, StorePath = zarr.storage.MemoryStore, zarr.storage.StorePath
SHAPE = (12, 14, 15)


def url(name: str) -> str:
    """A place that fsspec has and no file system."""
    pytest.importorskip("fsspec", minversion="2024.12")
    return f"memory://{name}"


class Bucket(MemoryStore):
    """A store that ends its service after some writes, and counts them."""

    left, written = 1 << 30, 0

    async def set(self, key: str, *args: Any, **how: Any) -> None:
        if self.left <= 0:
            raise OSError(5, "the network is down", key)
        self.left, self.written = self.left - 1, self.written + 1
        await super().set(key, *args, **how)


def levels_of(group: Any) -> dict[str, Any]:
    return {path: group[path][...] for path in sorted(group)}


def expected(x: Any) -> dict[str, Any]:
    half = tenter.resize(x, tuple(-(-n // 2) for n in x.shape), mode="area", like="opencv")
    return {"0": x, "1": half, "2": tenter.resize(half, tuple(-(-n // 2) for n in half.shape), mode="area", like="opencv")}  # fmt: skip


def same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return found.keys() == wanted.keys() and all(np.array_equal(found[k], wanted[k]) for k in wanted)


@pytest.mark.parametrize("how, options", sampled([
    ({}, []), ({"labels": True}, ["--labels", "--mode", "area"]), ({"labels": True, "mode": "nearest"}, ["--labels"]),
    ({"factor": (1, 2, 3), "levels": 2, "axes": ("z", 1, "x")}, ["--factor", "1,2,3", "--levels", "2", "--axes", "z,y,x"]),
    ({"mode": "linear", "voxel_size": [2, 1, 1], "unit": "um", "chunks": (5, 6, 7)},
     ["--mode", "linear", "--voxel-size", "2,1,1", "--unit", "um", "--chunks", "5,6,7"]),
], 5))  # fmt: skip
def test_a_call_makes_the_files_that_the_command_makes(how: dict[str, Any], options: list[str]) -> None:
    volume("in.zarr", SHAPE)
    assert main(["pyramid", "in.zarr", "out.zarr", *options]) == 0
    wanted = tree("out.zarr")
    shutil.rmtree("out.zarr")
    group = pyramid("in.zarr", Path("out.zarr"), **how)
    assert tree("out.zarr") == wanted and not hidden()
    assert "multiscales" in group.attrs["ome"]


def kinds(name: str) -> dict[str, Callable[[], Any]]:
    """Places for a group."""
    return {
        "memory": MemoryStore,
        "in a store": lambda: StorePath(MemoryStore(), "a/b"),
        "url": lambda: url(f"{name}.zarr"),
        "fsspec": lambda: zarr.storage.FsspecStore.from_url(url(f"{name}2.zarr")),
        "zip": lambda: zarr.storage.ZipStore(f"{name}.zip", mode="w"),
        "folder": lambda: zarr.storage.LocalStore(f"{name}.zarr"),
        "a bucket": Bucket,
    }


def test_every_store_gets_the_same_group() -> None:
    x = volume("in.zarr", SHAPE)
    for kind, make in kinds("same").items():
        group = pyramid("in.zarr", make(), levels=2)
        assert same(levels_of(group), expected(x)), kind
        said = group.attrs["ome"]
        assert [level["path"] for level in said["multiscales"][0]["datasets"]] == ["0", "1", "2"], kind
    assert not hidden()


def test_every_source_is_read_alike() -> None:
    x = volume("in.zarr", SHAPE)
    np.save("in.npy", x)
    ome("group.zarr", x)
    store = MemoryStore()
    zarr.create_array(store, name="a", data=x, chunks=(8, 8, 8))
    array = zarr.open_array("in.zarr", mode="r")
    stored = zarr.open_group(store, mode="r")["a"]
    pyramid("in.zarr", url("source.zarr"), levels=1)
    sources = ("in.zarr", Path("in.zarr"), "in.npy", "group.zarr", array, stored, StorePath(store, "a"))
    for source in (*sources, zarr.open_group("group.zarr"), url("source.zarr"), zarr.storage.LocalStore("in.zarr")):
        group = pyramid(source, MemoryStore(), levels=2)
        assert same(levels_of(group), expected(x)), source


@pytest.mark.parametrize("format_", sampled([3, 2], 2))
def test_levels_are_added_to_a_group_in_a_store(format_: int) -> None:
    x, store = noise(SHAPE), MemoryStore()
    ome("in.zarr", x, format_=format_)
    group = pyramid("in.zarr", StorePath(store, "g"), levels=1)
    with pytest.raises(ValueError, match=r"has levels already .* force=True replaces them"):
        pyramid(StorePath(store, "g"))
    group = pyramid(group.store_path, levels=2, force=True)
    assert same(levels_of(group), expected(x))
    group = pyramid(StorePath(store, "g"), levels=1, force=True)
    assert sorted(group) == ["0", "1"] and len(group.metadata.attributes.get("ome", group.attrs)["multiscales"]) == 1


def test_a_call_that_failed_is_continued_by_the_same_call() -> None:
    x = volume("in.zarr", SHAPE)
    whole, store = Bucket(), Bucket()
    pyramid("in.zarr", whole, levels=2, threads=1)
    store.left = whole.written // 2
    with pytest.raises(OSError, match="the network is down; what is done is kept, and the same call continues"):
        pyramid("in.zarr", store, levels=2, threads=1)
    store.left = 1 << 30
    assert "ome" not in zarr.open_group(store, mode="r").attrs
    # What ended the service also kept it from noting what was written, as a failure of power would.
    assert same(levels_of(pyramid("in.zarr", store, levels=2, threads=1)), expected(x))


def test_what_is_done_is_not_made_again() -> None:
    x = volume("in.zarr", SHAPE)
    store, made = Bucket(), []

    def tell(done: int, total: int) -> None:
        made.append((done, total))
        if len(made) < 100 and done:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        pyramid("in.zarr", store, levels=2, threads=1, progress=tell)
    done, total = made[-1]
    assert 0 < done <= total and "ome" not in zarr.open_group(store, mode="r").attrs
    assert "tenter-part" in zarr.open_group(store, mode="r")
    made.clear()
    group = pyramid("in.zarr", store, levels=2, threads=1, progress=lambda *now: made.append(now))
    assert same(levels_of(group), expected(x))  # and tenter-part is gone
    assert made[-1][0] == made[-1][1] < total


def test_a_store_begins_anew_where_its_source_has_changed() -> None:
    volume("in.zarr", SHAPE)
    store = Bucket()

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyError

    with pytest.raises(KeyError):
        pyramid("in.zarr", store, levels=2, threads=1, progress=stop)
    other = noise(SHAPE)[::-1].copy()
    zarr.open_array("in.zarr", mode="r+")[...] = other
    assert same(levels_of(pyramid("in.zarr", store, levels=2)), expected(other))


def test_a_folder_is_continued_too() -> None:
    x = volume("in.zarr", SHAPE)

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyError

    with pytest.raises(KeyError):
        pyramid("in.zarr", "out.zarr", levels=2, progress=stop)
    assert not Path("out.zarr").exists() and hidden()
    assert main(["pyramid", "in.zarr", "out.zarr", "--levels", "2"]) == 0  # the same job
    assert same({k: elements(f"out.zarr/{k}") for k in "012"}, expected(x)) and not hidden()


def test_missing_values_are_left_out_of_every_level() -> None:
    x = noise(SHAPE, "float32")
    x[2:7, 3:9] = np.nan
    source, how = zarr.create_array({}, data=x, chunks=(8, 8, 8)), {"skipna": True, "min_valid": 0.4}
    group = pyramid(source, MemoryStore(), levels=2, **how)
    half = tenter.resize(x, (6, 7, 8), mode="area", like="opencv", **how)
    np.testing.assert_array_equal(group["1"][...], half)
    np.testing.assert_array_equal(group["2"][...], tenter.resize(half, (3, 4, 4), mode="area", like="opencv", **how))
    zarr.create_array("in.zarr", data=x, chunks=(8, 8, 8))
    assert main(["pyramid", "in.zarr", "out.zarr", "--levels", "2", "--skip-nan", "--min-valid", "0.4"]) == 0
    np.testing.assert_array_equal(elements("out.zarr/2"), group["2"][...])


def test_a_call_leaves_the_process_as_it_was() -> None:
    volume("in.zarr", SHAPE)
    before = zarr.config.get("async.concurrency")
    tenter.set_num_threads(3)
    try:
        pyramid("in.zarr", MemoryStore())
        assert tenter.get_num_threads() == 3 and zarr.config.get("async.concurrency") == before
    finally:
        tenter.set_num_threads(None)


WRONG: list[tuple[Any, Any, dict[str, Any], type[Exception], str]] = [
    (np.zeros((4, 4)), None, {}, TypeError, r"source: expected a folder, .*\(zarr.array\(x\) makes one\), got float64"),
    ("in.zarr", 3, {}, TypeError, "target: expected a folder, a URL, a zarr group, Store or StorePath, got 3"),
    ("in.zarr", "in.zarr", {}, ValueError, "in.zarr: is the input"),
    ("in.zarr", "out.zip", {}, ValueError, "out.zip: expected a name that ends in .zarr"),
    ("no.zarr", None, {}, FileNotFoundError, "no.zarr"),
    ("in.zarr", "o.zarr", {"mode": "cubic"}, ValueError, "mode: expected one of area, linear, nearest, got 'cubic'"),
    ("in.zarr", "o.zarr", {"mode": "nearest"}, ValueError, "mode: nearest is for labels"),
    ("in.zarr", "o.zarr", {"labels": 1}, TypeError, "labels: expected a bool or None, got 1"),
    ("in.zarr", "o.zarr", {"factor": 1}, ValueError, "factor: expected whole numbers of at least 1, one of them at"),
    ("in.zarr", "o.zarr", {"factor": (2, 2)}, ValueError, "factor: expected one number, or one for each of 3 axes"),
    ("in.zarr", "o.zarr", {"levels": 0}, ValueError, "levels: expected 1 to 32 levels, got 0"),
    ("in.zarr", "o.zarr", {"axes": ("q",)}, ValueError, r"axes: expected numbers or names of axes \(z, y, x\), got"),
    ("in.zarr", "o.zarr", {"names": "ab"}, ValueError, "names: expected 3 names, one for each dim, such as z,y,x"),
    ("in.zarr", "o.zarr", {"chunks": (4, 4)}, ValueError, "chunks: expected 3 lengths, one for each dim, got 2"),
    ("in.zarr", "o.zarr", {"voxel_size": (1, -1, 1)}, ValueError, "voxel_size: expected finite numbers above 0"),
    ("in.zarr", "o.zarr", {"voxel_size": (1, 1)}, ValueError, "voxel_size: expected one number for each axis, 3"),
    ("in.zarr", "o.zarr", {"unit": "um"}, ValueError, "unit: goes with voxel_size"),
    ("in.zarr", "o.zarr", {"min_valid": 0.5}, ValueError, "min_valid: expected none without where or skipna, got 0.5"),
    ("in.zarr", "o.zarr", {"skipna": 1}, TypeError, "skipna: expected a bool, got 1"),
    ("in.zarr", "o.zarr", {"threads": 0}, ValueError, "threads: expected a number of threads >= 1, got 0"),
    ("in.zarr", "o.zarr", {"memory_limit": 1}, ValueError, "memory_limit: .* is too little"),
    ("in.zarr", "o.zarr", {"progress": 1}, TypeError, "progress: expected a function of two numbers, got 1"),
]  # fmt: skip


@in_one_test("source, target, how, kind, message", WRONG)
def test_wrong_calls_name_the_argument(
    source: Any, target: Any, how: dict[str, Any], kind: type[Exception], message: str
) -> None:
    if not Path("in.zarr").exists():
        volume("in.zarr", SHAPE)
    with pytest.raises(kind, match=message):
        pyramid(source, target, **how)
    assert not Path("o.zarr").exists() and not hidden()

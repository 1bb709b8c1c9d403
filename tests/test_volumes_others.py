"""OME-Zarr and zarr of other programs: theirs is read, ours is read by them, and levels are `tenter.resize`'s.

Tests skip where a package is not installed: ome-zarr and ngff-zarr (pip install ome-zarr ngff-zarr).
"""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from tenter.cli.main import main
from volume_helpers import _as_a_process_of_its_own, elements, noise, ome, placed, said, zarr  # noqa: F401

pytestmark = pytest.mark.slow
SCALE = {"z": 2.0, "y": 0.5, "x": 0.5}
X = noise((2, 8, 32, 36))


def halves(x: Any, axes: tuple[int, ...], **how: Any) -> Any:
    return tenter.resize(x, tuple(-(-x.shape[k] // 2) for k in axes), axes=axes, **how)


def check_levels(name: str, paths: list[str], how: dict[str, Any]) -> None:
    """Every level is `tenter.resize` of the one before, along the axes that became shorter."""
    levels = [elements(f"{name}/{path}") for path in paths]
    for before, after in itertools.pairwise(levels):
        axes = tuple(k for k, (n, m) in enumerate(zip(before.shape, after.shape)) if n != m)
        assert axes and np.array_equal(after, tenter.resize(before, [after.shape[k] for k in axes], axes=axes, **how))


AREA: dict[str, Any] = {"mode": "area", "like": "opencv"}
NEAREST: dict[str, Any] = {"mode": "nearest", "like": "onnx"}


def of_ome_zarr_py(version: str) -> None:
    """vol.zarr: an image with labels, as ome-zarr-py writes it."""
    writer = pytest.importorskip("ome_zarr.writer")
    from ome_zarr.format import FormatV04, FormatV05

    format_ = {"0.4": FormatV04, "0.5": FormatV05}[version]()
    group = zarr.open_group("vol.zarr", mode="w", zarr_format=2 if version == "0.4" else 3)
    units = dict.fromkeys("zyx", "micrometer")
    how = {"fmt": format_, "scale_factors": [2], "axes_units": units, "scale": SCALE}
    writer.write_image(X, group, axes="czyx", **how)
    writer.write_labels(X[0] // 999, group, name="cells", axes="zyx", **how)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_images_and_labels_of_ome_zarr_py(version: str) -> None:
    of_ome_zarr_py(version)
    for path, how in (("vol.zarr", AREA), ("vol.zarr/labels/cells", NEAREST)):
        assert main(["pyramid", path, "--force", "--levels", "2"]) == 0
        entry = said(path)["multiscales"][0]
        check_levels(path, [level["path"] for level in entry["datasets"]], how)
        assert placed(path)[0][-3:] == list(SCALE.values())
        assert placed(path, 1)[0][-3:] == [2.0, 1.0, 1.0]
    assert main(["resize", "vol.zarr", "cubes.zarr", "--spacing", "1,1,1", "--axes", "z,y,x"]) == 0
    assert elements("cubes.zarr/0").shape == (2, 16, 16, 18)


@pytest.mark.parametrize("format_", [2, 3])
def test_ome_zarr_py_reads_ours_with_their_labels(format_: int) -> None:
    reader = pytest.importorskip("ome_zarr.reader")
    from ome_zarr.io import parse_url

    ome("vol.zarr", X, "czyx", format_, [1.0, *SCALE.values()], dict.fromkeys("zyx", "micrometer"))
    assert main(["pyramid", "vol.zarr", "--levels", "2"]) == 0
    np.save("cells.npy", cells := X[0] // 999)
    assert main(["pyramid", "cells.npy", "vol.zarr/labels/cells"]) == 0
    nodes = {node.zarr.basename(): node for node in reader.Reader(parse_url("vol.zarr"))()}
    assert set(nodes) == {"vol.zarr", "labels", "cells"}
    for name, full in (("vol.zarr", X), ("cells", cells)):
        node, path = nodes[name], "vol.zarr" if name == "vol.zarr" else "vol.zarr/labels/cells"
        assert len(node.data) == 3 and np.array_equal(node.data[0].compute(), full)
        for k, level in enumerate(node.data):
            assert np.array_equal(level.compute(), elements(f"{path}/{k}"))
            steps = said(path)["multiscales"][0]["datasets"][k]["coordinateTransformations"]
            assert node.metadata["coordinateTransformations"][k] == steps


def of_ngff_zarr(name: str, version: str, **how: Any) -> Any:
    ngff = pytest.importorskip("ngff_zarr")
    image = ngff.to_ngff_image(X, dims=list("czyx"), scale=SCALE, axes_units=dict.fromkeys("zyx", "micrometer"))
    made = ngff.to_multiscales(image, scale_factors=[2], chunks=8)
    ngff.to_ngff_zarr(name, made, version=version, **how)


@pytest.mark.parametrize(("version", "how"), [("0.4", {}), ("0.5", {}), ("0.5", {"chunks_per_shard": 2})])
def test_images_of_ngff_zarr(version: str, how: dict[str, Any]) -> None:
    of_ngff_zarr("vol.zarr", version, **how)
    first = said("vol.zarr")["multiscales"][0]["datasets"][0]["path"]
    assert np.array_equal(elements(f"vol.zarr/{first}"), X)
    assert main(["pyramid", "vol.zarr", "new.zarr", "--levels", "2"]) == 0
    check_levels("new.zarr", ["0", "1", "2"], AREA)
    assert placed("new.zarr", 1)[0] == [1.0, 2.0, 1.0, 1.0]
    assert main(["pyramid", "vol.zarr", "--levels", "2", "--force"]) == 0
    entry = said("vol.zarr")["multiscales"][0]
    check_levels("vol.zarr", [level["path"] for level in entry["datasets"]], AREA)


@pytest.mark.parametrize("axes", ["yx", "zyx", "czyx", "tczyx", "yxc", "xzy"])
@pytest.mark.parametrize("format_", [2, 3])
def test_ngff_zarr_validates_ours_by_the_published_schemas(format_: int, axes: str) -> None:
    ngff = pytest.importorskip("ngff_zarr")
    pytest.importorskip("jsonschema")
    x = noise(tuple({"t": 2, "c": 2, "z": 8, "y": 16, "x": 20}[n] for n in axes))
    how = {"dimension_names": list(axes)} if format_ == 3 else {"attributes": {"_ARRAY_DIMENSIONS": list(axes)}}
    zarr.create_array("in.zarr", data=x, chunks=tuple(min(8, n) for n in x.shape), zarr_format=format_, **how)
    sizes = ",".join("2" if n == "z" else "0.5" for n in axes if n in "zyx")
    assert main(["pyramid", "in.zarr", "out.zarr", "--levels", "1", "--voxel-size", sizes, "--unit", "um"]) == 0
    found = ngff.from_ngff_zarr("out.zarr", validate=True)
    assert [
        np.array_equal(image.data.compute(), elements(f"out.zarr/{k}")) for k, image in enumerate(found.images)
    ] == [True] * 2
    assert found.images[0].scale["y"] == 0.5 and found.images[1].scale["y"] == 1.0
    assert found.images[0].axes_units["y"] == "micrometer"


def stored() -> dict[str, dict[str, Any]]:
    """How zarr may store an array: every codec that zarr and numcodecs ship, orders of bytes and dims, shards. Codecs
    that need a further package are left out where it is missing."""
    import numcodecs
    import zarr.codecs.numcodecs as numcodecs3
    from zarr import codecs as c

    v2: dict[str, Any] = {
        "none": None, "zlib": numcodecs.Zlib(), "gzip": numcodecs.GZip(), "bz2": numcodecs.BZ2(), "lzma": numcodecs.LZMA(),
        "lz4": numcodecs.LZ4(), "zstd": numcodecs.Zstd(),
        **{f"blosc {name}": numcodecs.Blosc(cname=name) for name in numcodecs.blosc.list_compressors()},
    }  # fmt: skip
    found = {f"2, {name}": {"zarr_format": 2, "compressors": codec} for name, codec in v2.items()}
    filters: dict[str, Any] = {
        "delta": numcodecs.Delta("<u2"), "offset": numcodecs.FixedScaleOffset(5, 1, "<u2", "<u2"),
        "shuffle": numcodecs.Shuffle(2), "crc32": numcodecs.CRC32(), "adler32": numcodecs.Adler32(),
        "fletcher32": numcodecs.Fletcher32(), "astype": numcodecs.AsType("<i4", "<u2"),
        "lookup3": numcodecs.JenkinsLookup3(), "base64": numcodecs.Base64(),
    }  # fmt: skip
    found |= {f"2, {name}": {"zarr_format": 2, "filters": [codec]} for name, codec in filters.items()}
    of_floats = {"bits": numcodecs.BitRound(9), "digits": numcodecs.Quantize(3, "<f4")}
    found |= {f"2, {name}": {"zarr_format": 2, "filters": [of], "dtype": "<f4"} for name, of in of_floats.items()}
    found |= {
        "2, packed bits": {"zarr_format": 2, "filters": [numcodecs.PackBits()], "dtype": "bool"},
        "2, .": {"zarr_format": 2, "chunk_key_encoding": {"name": "v2", "separator": "."}},
        "2, /": {"zarr_format": 2, "chunk_key_encoding": {"name": "v2", "separator": "/"}},
        "2, F": {"zarr_format": 2, "order": "F"},
        "2, big-endian": {"zarr_format": 2, "dtype": ">u2"},
        "3, big-endian": {"serializer": c.BytesCodec(endian="big")},
        "3, v2 keys": {"chunk_key_encoding": {"name": "v2", "separator": "."}},
        "3, default keys": {"chunk_key_encoding": {"name": "default", "separator": "."}},
        "3, transposed": {"filters": [c.TransposeCodec(order=(2, 0, 1))]},
    }
    v3 = {"none": None, "gzip": c.GzipCodec(), "zstd": c.ZstdCodec(), "crc32c": c.Crc32cCodec()}
    v3 |= {f"blosc {name}": c.BloscCodec(cname=name) for name in ("lz4", "lz4hc", "zstd", "zlib", "blosclz")}
    found |= {f"3, {name}": {"compressors": codec} for name, codec in v3.items()}
    of_numcodecs = {"compressors": ("BZ2", "Blosc", "CRC32", "CRC32C", "GZip", "Adler32", "Fletcher32",
        "JenkinsLookup3", "LZ4", "LZMA", "Shuffle", "Zlib", "Zstd")}  # fmt: skip
    found |= {f"3, numcodecs {n}": {key: getattr(numcodecs3, n)()} for key, ns in of_numcodecs.items() for n in ns}
    of = {"Delta": {"dtype": "<u2"}, "FixedScaleOffset": {"offset": 5, "scale": 1, "dtype": "<u2", "astype": "<u2"},
        "AsType": {"encode_dtype": "<i4", "decode_dtype": "<u2"}}  # fmt: skip
    found |= {f"3, numcodecs {n}": {"filters": [getattr(numcodecs3, n)(**how)]} for n, how in of.items()}
    floats = {"BitRound": {"keepbits": 9}, "Quantize": {"digits": 3, "dtype": "<f4"}}
    found |= {
        f"3, numcodecs {n}": {"filters": [getattr(numcodecs3, n)(**how)], "dtype": "<f4"} for n, how in floats.items()
    }
    found["3, numcodecs PackBits"] = {"filters": [numcodecs3.PackBits()], "dtype": "bool"}
    for n, package, dtype in (("PCodec", "pcodec", "<u2"), ("ZFPY", "zfpy", "<f4")):
        if importlib.util.find_spec(package) is not None:
            found[f"3, numcodecs {n}"] = {"serializer": getattr(numcodecs3, n)(), "compressors": None, "dtype": dtype}
    for at in ("start", "end"):
        for order in ("little", "big"):
            codecs = [c.BytesCodec(endian=order), c.ZstdCodec()]
            inner = c.ShardingCodec(chunk_shape=(4, 4, 4), index_location=at, codecs=codecs)
            name = f"3, shards, index at the {at}, {order}"
            found[name] = {"serializer": inner, "compressors": None, "chunks": (8, 16, 16)}
    return found


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")
def test_every_way_in_which_zarr_stores_an_array_is_read_and_written() -> None:
    for name, how in stored().items():
        path = name.replace(" ", "").replace("/", "slash")
        dtype = np.dtype(how.pop("dtype", "<u2"))
        how = {"chunks": (8, 8, 8), **how}
        x = {"u": noise((16, 33, 20)) // 2, "f": noise((16, 33, 20), "float32"), "b": noise((16, 33, 20)) % 2 == 1}
        made = zarr.create_array(f"{path}.zarr", shape=(16, 33, 20), dtype=dtype, **how)
        made[...] = x[dtype.kind]
        first = np.ascontiguousarray(made[...])  # as it comes back: some codecs round

        def as_read(values: Any, made: Any = made, how: Any = how, dtype: Any = dtype) -> Any:
            """Values as they come back from an array like this one, of chunks that fit."""
            like = zarr.create_array({}, shape=values.shape, dtype=dtype, **how)
            like[...] = values
            return like[...]

        mode = "nearest" if dtype.kind == "b" else "area"
        args = ["resize", f"{path}.zarr", f"{path}.out.zarr", "--axes", "0,1,2", "--scale", "0.5", "--mode", mode]
        assert main(args) == 0, name
        want = as_read(tenter.resize(first, (8, 16, 10), axes=(0, 1, 2), mode=mode))
        assert np.array_equal(elements(f"{path}.out.zarr"), want), name
        after = zarr.open_array(f"{path}.out.zarr", mode="r")
        assert after.dtype == made.dtype and after.metadata.zarr_format == made.metadata.zarr_format, name
        assert main(["pyramid", f"{path}.zarr", f"{path}.ome.zarr", "--levels", "1"]) == 0, name
        assert np.array_equal(elements(f"{path}.ome.zarr/0"), as_read(first)), name
        level = halves(first, (0, 1, 2), **(NEAREST if dtype.kind == "b" else AREA))
        assert np.array_equal(elements(f"{path}.ome.zarr/1"), as_read(level)), name

"""Arrays of zarr in every way in which it stores them: codecs, orders of bytes and dims, keys, shards."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from tenter.cli.main import main
from volume_helpers import _as_a_process_of_its_own, elements, noise, zarr  # noqa: F401

pytestmark = pytest.mark.slow


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
        of: dict[str, Any] = (
            {"mode": "nearest", "like": "onnx"} if dtype.kind == "b" else {"mode": "area", "like": "opencv"}
        )
        level = tenter.resize(first, (8, 17, 10), axes=(0, 1, 2), **of)
        assert np.array_equal(elements(f"{path}.ome.zarr/1"), as_read(level)), name

"""The command line on arrays on disk: zarr and .npy, read and written block by block."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, command, refused  # noqa: F401
from roots import DOCS
from sweeps import sampled
from tenter.cli.main import main
from tenter.cli.volumes import memory
from volume_helpers import _as_a_process_of_its_own, elements, hidden, noise, volume, zarr  # noqa: F401

ALL = ("--axes", "z,y,x")
HALF = {"axes": (0, 1, 2), "size": (10, 13, 15)}

# ---- what comes out


STORED = [
    {}, {"zarr_format": 2}, {"shards": (16, 16, 16)}, {"compressors": None}, {"chunks": (21, 5, 31)},
    {"zarr_format": 2, "order": "F"}, {"chunks": (100, 100, 100)}, {"fill_value": 7},
]  # fmt: skip


@pytest.mark.parametrize("mode, how", sampled(itertools.product(["area", "bicubic", "nearest"], STORED), 5))
def test_zarr_of_every_layout_has_the_result_in_memory(how: dict[str, Any], mode: str) -> None:
    x = volume("in.zarr", **how)
    assert main(["resize", "in.zarr", "out.zarr", "--scale", "0.5", *ALL, "--mode", mode]) == 0
    want = tenter.resize(x, mode={"bicubic": "cubic"}.get(mode, mode), **HALF)
    source, made = zarr.open_array("in.zarr"), zarr.open_array("out.zarr")
    assert made[...].tobytes() == np.ascontiguousarray(want).tobytes()
    assert made.metadata.zarr_format == source.metadata.zarr_format and made.fill_value == source.fill_value
    assert made.shards == source.shards and made.compressors == source.compressors and made.dtype == x.dtype
    assert not hidden()


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "float32", ">f8", "bool"])
def test_npy_by_windows_is_npy_in_memory(dtype: str, fortran: bool) -> None:
    x = noise((21, 26, 31), "uint8").astype(dtype)
    np.save("in.npy", np.asfortranarray(x) if fortran else x)
    args = ["--size", "10", "13", "15", *ALL, "--mode", "nearest" if dtype == "bool" else "bicubic"]
    numbers = [arg.replace("z,y,x", "0,1,2") for arg in args]
    assert main(["resize", "in.npy", "windows.npy", *args, "--memory-limit", "1GiB"]) == 0
    assert main(["resize", "in.npy", "memory.npy", *args[:4], "--axes", "0", "1", "2", *args[6:]]) == 0
    assert main(["resize", "in.npy", "numbers.npy", *numbers, "--threads", "1"]) == 0
    got, want = np.load("windows.npy"), np.load("memory.npy")
    assert got.dtype == np.dtype(dtype) and got.flags.f_contiguous == want.flags.f_contiguous
    assert np.array_equal(got, want) and np.array_equal(np.load("numbers.npy"), want)
    assert not hidden()


def test_from_one_format_to_the_other() -> None:
    x = noise((20, 30, 40), "float32")
    np.save("x.npy", x)
    np.save("f.npy", np.asfortranarray(x))
    args = ["--scale", "2", "--axes", "-1,1", "--mode", "linear"]
    for source, held in (("x.npy", x), ("f.npy", np.asfortranarray(x))):
        assert main(["resize", source, f"{source}.zarr", *args, "--chunks", "7,16,16"]) == 0
        assert zarr.open_array(f"{source}.zarr").chunks == (7, 16, 16)
        assert main(["resize", f"{source}.zarr", f"again-{source}", "--scale", "1", "--axes", "0"]) == 0
        assert np.array_equal(np.load(f"again-{source}"), tenter.resize(held, (80, 60), axes=(2, 1)))


def test_names_of_axes() -> None:
    x = volume("named.zarr", dimension_names=("a", "b", "c"))
    assert main(["resize", "named.zarr", "out.zarr", "--size", "5", "9", "--axes", "c,a", "--mode", "area"]) == 0
    assert np.array_equal(elements("out.zarr"), tenter.resize(x, (5, 9), axes=(2, 0), mode="area", like="pillow"))
    assert zarr.open_array("out.zarr").metadata.dimension_names == ("a", "b", "c")


@pytest.mark.parametrize("counts", [2, [0, 3, 1] * 7])
def test_repeat(counts: Any) -> None:
    x = volume("in.zarr", attributes={"unit": "m"})
    np.save("counts.npy", counts)
    text = str(counts) if isinstance(counts, int) else "counts.npy"
    assert main(["repeat", "in.zarr", "out.zarr", "--repeats", text, "--dim", "-3"]) == 0
    assert np.array_equal(elements("out.zarr"), np.repeat(x, counts, 0))
    assert dict(zarr.open_array("out.zarr").attrs) == {"unit": "m"}
    np.save("x.npy", x)
    assert main(["repeat", "x.npy", "y.npy", "--repeats", "3", "--threads", "2"]) == 0
    assert np.array_equal(np.load("y.npy"), np.repeat(x, 3))


def test_empty_chunks_are_left_out_and_count_as_done() -> None:
    x = np.zeros((32, 32), np.uint8)
    x[:8, :8] = 9
    zarr.create_array("in.zarr", data=x, chunks=(8, 8))
    assert main(["resize", "in.zarr", "out.zarr", "--scale", "2", "--axes", "0,1", "--mode", "nearest"]) == 0
    assert np.array_equal(elements("out.zarr"), np.repeat(np.repeat(x, 2, 0), 2, 1))
    assert len([path for path in Path("out.zarr/c").rglob("*") if path.is_file()]) == 4


def test_the_installed_command_says_what_it_did() -> None:
    volume("in.zarr")
    done = command("resize", "in.zarr", "out.zarr", "--scale", 0.5, "--axes", "z,y,x", "--mode", "area")
    assert done.returncode == 0 and done.stderr == "" and "out.zarr: done in" in done.stdout
    assert "peak memory" in done.stdout and done.stdout.count("\n") == 1


def test_the_commands_of_the_page() -> None:
    page = (DOCS / "volumes.md").read_text()
    volume("volume.zarr")
    volume("labels.zarr")
    about = {"axes": "ZYX", "spacing": 2.0, "unit": "um"}
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite("stack.tif", noise((4, 400, 300)), imagej=True, resolution=(2.0, 2.0), metadata=about)
    assert main(["pyramid", "volume.zarr", "image.ome.zarr", "--levels", "1"]) == 0
    zarr.open_group("image.ome.zarr").attrs["ome"] = _with_one_level(
        dict(zarr.open_group("image.ome.zarr").attrs["ome"])
    )
    shutil.rmtree("image.ome.zarr/1")
    for line in re.findall(r"```bash\n(.*?)```", page, re.S)[0].splitlines():
        assert main(shlex.split(line, comments=True)[1:]) == 0, line
    assert np.load("out.npy").shape == (21, 256, 256) and elements("repeated.zarr").shape == (84, 26, 31)


def _with_one_level(ome: dict[str, Any]) -> dict[str, Any]:
    (entry,) = ome["multiscales"]
    return {**ome, "multiscales": [{**entry, "datasets": entry["datasets"][:1]}]}


# ---- what is refused


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    volume("in.zarr")
    volume("named.zarr", dimension_names=("a", "b", "c"))
    zarr.create_group("group.zarr")
    zarr.create_array("group.zarr/inner", data=np.zeros(3))
    zarr.create_array("text.zarr", shape=(3,), dtype="U3", zarr_format=2)
    zarr.create_array("none.zarr", shape=(0, 3), dtype="f4", chunks=(1, 1))
    np.save("in.npy", np.zeros((4, 4)))
    Path("empty.zarr").mkdir()
    half = ("--scale", 0.5, *ALL)
    for args, said in [
        (("in.zarr", "out.zarr", "--scale", 0.5), "--axes: is needed"),
        (("in.zarr", "out.png", *half), "ends in .zarr, .npy or .tif"),
        (("in.zarr", "in.zarr", *half, "--force"), "is the input"),
        (("in.zarr", "in.zarr/out.zarr", *half), "is the input, or in the same folder"),
        (("in.zarr", "named.zarr", *half), "exists already; --force overwrites it"),
        (("in.zarr", "empty.zarr", *half, "--force"), "exists and is not zarr"),
        (("in.zarr", "none/out.zarr", *half), "the folder none does not exist"),
        (("none.zarr", "out.zarr", *half), "at least one element"),
        (("absent.zarr", "out.zarr", *half), "absent.zarr: No such file or directory"),
        (("empty.zarr", "out.zarr", *half), "is neither a .npy file, a TIFF stack nor a zarr"),
        (("group.zarr", "out.zarr", *half), "without multiscales metadata, such as inner in it"),
        (("text.zarr", "out.zarr", "--scale", 2, "--axes", "0"), "expected numbers"),
        (("named.zarr", "out.zarr", *half), "names of axes (a, b, c), got 'z'"),
        (("in.zarr", "out.zarr", "--scale", 0.5, "--axes", "3"), "numbers from -3 to 2, got 3"),
        (("in.zarr", "out.zarr", "--scale", 0.5, "--axes", "z,0"), "each axis once"),
        (("in.zarr", "out.zarr", "--scale", 0.001, *ALL), "leaves nothing"),
        (("in.zarr", "out.zarr", *half, "--linear-light"), "--linear-light: is for images"),
        (("in.zarr", "out.zarr", *half, "--jobs", 2), "--jobs: does not go with arrays on disk"),
        (("in.zarr", "out.zarr", *half, "--chunks", "8,8"), "expected 3 lengths"),
        (("in.zarr", "out.zarr", *half, "--chunks", "8,8,0"), "lengths of at least 1"),
        (("in.zarr", "out.npy", *half, "--chunks", "8,8,8"), "a .npy file has none"),
        (("in.zarr", "out.zarr", *half, "--memory-limit", "much"), "such as 2GiB or 500MB, got 'much'"),
        (("in.zarr", "out.zarr", *half, "--memory-limit", "100TiB"), "is more than the"),
        (("in.zarr", "out.zarr", *half, "--memory-limit", "1MiB"), "1 MiB is too little"),
        (("in.zarr", "out.zarr", *half, "--threads", 0), "1 to 1024 threads"),
        (("in.png", "out.png", "--scale", 0.5, "--memory-limit", "1GiB"), "is for zarr arrays"),
        (("in.zarr", "named.zarr", "out/", *half), "one IN and one OUT"),
    ]:
        assert said in refused(capsys, "resize", *args)
    assert "--dim: is needed" in refused(capsys, "repeat", "in.zarr", "out.zarr", "--repeats", 2)
    assert "--dim: expected" in refused(capsys, "repeat", "in.zarr", "out.zarr", "--repeats", 2, "--dim", 3)
    assert "at least 0" in refused(capsys, "repeat", "in.zarr", "out.zarr", "--repeats", -2, "--dim", 0)
    assert "got 0" in refused(capsys, "repeat", "in.zarr", "out.zarr", "--repeats", 0, "--dim", 0)
    np.save("counts.npy", [1, 2])
    assert "expected 21 counts" in refused(
        capsys, "repeat", "in.zarr", "out.zarr", "--repeats", "counts.npy", "--dim", 0
    )
    Path("in.zarr/zarr.json").write_text("{")
    assert "in.zarr: cannot be read as zarr" in refused(capsys, "resize", "in.zarr", "out.zarr", *half)


def test_one_chunk_larger_than_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    zarr.create_array("in.zarr", shape=(4096, 4096, 64), chunks=(4096, 4096, 64), dtype="u1")
    said = refused(capsys, "resize", "in.zarr", "out.zarr", "--scale", 2, *ALL, "--memory-limit", "1GiB")
    assert "one block of 4096 x 4096 x 64 of out.zarr needs" in said and "smaller chunks would help" in said


def test_without_zarr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    volume("in.zarr")
    from tenter.cli import refusal

    def no(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(refusal.importlib, "import_module", no)
    said = refused(capsys, "resize", "in.zarr", "out.zarr", "--scale", 2, *ALL)
    assert "zarr is needed for this and is not installed: pip install zarr" in said


# ---- bounds


@pytest.mark.parametrize(("text", "n"), [("2GiB", 2 << 30), ("500MB", 500_000_000), ("1.5g", 3 << 29), ("64k", 65536)])
def test_limits_in_words(text: str, n: int) -> None:
    assert memory.parse_limit(text) == n


def test_blocks_fit_the_limit_and_share_or_grow_where_that_saves_reading() -> None:
    from tenter.cli.volumes.arrays import resized
    from tenter.cli.volumes.blocks import Task, bytes_of, cut
    from tenter.cli.volumes.zarrs import ZarrArray

    source = ZarrArray(zarr.create_array({}, shape=(2000,) * 3, chunks=(64,) * 3, dtype="u2"), "in")
    target = ZarrArray(zarr.create_array({}, shape=(1000,) * 3, chunks=(64,) * 3, dtype="u2"), "out")
    means = Task(source, target, resized(source, [0, 1, 2], (1000,) * 3, {"mode": "area"})[0])
    assert cut(means, 1 << 30, 4).shape == (64,) * 3  # 128 inputs along each axis are whole chunks
    cubic = Task(source, target, resized(source, [0, 1, 2], (1000,) * 3, {"mode": "cubic", "antialias": True})[0])
    least, small, some, large = (cut(cubic, room << 20, 4) for room in (70, 200, 900, 4096))
    assert [found.shared for found in (least, small, some, large)] == [3, 2, 1, 0]
    assert large.shape == (64,) * 3 and some.shape[0] > 64 and some.shape[1:] == (64,) * 2
    for found, room in ((least, 70), (small, 200), (some, 900), (large, 4096)):
        assert bytes_of(cubic, found.shape, found.threads, found.shared) == found.n_bytes <= room << 20
        assert found.threads == 4 and all(n % 64 == 0 for n in found.shape)
    assert cut(cubic, bytes_of(cubic, (64,) * 3, 1, 3), 4).threads == 1


@pytest.mark.slow
def test_memory_stays_below_the_limit() -> None:
    """200 MB, of which blocks hold a part. tests/programs/large_volume.py does as much to any number of gigabytes."""
    zarr.create_array("in.zarr", shape=(400, 500, 500), chunks=(100, 100, 100), dtype="u2", fill_value=3)
    limit = "250MiB"
    done = command("resize", "in.zarr", "out.zarr", "--scale", 0.5, *ALL, "--memory-limit", limit)
    peak = done.stdout.split("peak memory ")[1].split()
    assert done.returncode == 0 and peak[1] == "MiB;" and float(peak[0]) < 250


@pytest.mark.slow
def test_a_progress_bar_on_a_terminal() -> None:
    pty = pytest.importorskip("pty")
    volume("in.zarr")
    ours, theirs = pty.openpty()
    run = [sys.executable, "-m", "tenter.cli.main", "resize", "in.zarr", "out.zarr", "--scale", "2", *ALL]
    code = subprocess.run(run, stderr=theirs, stdout=subprocess.DEVNULL, check=False).returncode
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours), os.close(theirs)
    assert code == 0 and "%" in shown and "memory" in shown

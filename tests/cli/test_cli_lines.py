"""The command line: a failure is one line on stderr, whatever names hold, C libraries print, or streams are open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, noise, ran, refused  # noqa: F401
from program_helpers import PROGRAMS
from sweeps import sampled
from tenter._arrays import limits
from tenter.cli.main import main

TERABYTE = 1 << 40
#: a line break, a terminal's reset, writing turned round, a byte that is no UTF-8
ODD = "two\nlines\x1bc\u202e\udcff.png"


def lines(said: str) -> list[str]:
    found = said.splitlines()
    assert all(line.startswith("tenter: ") and line.isprintable() for line in found), said
    return found


# ---- names


def test_names_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert r"two\nlines\x1bc\u202e\udcff.png: " in refused(capsys, "resize", ODD, "out.png", "--scale", 2)
        Path(ODD).touch()
    Path(ODD).write_text("no picture" * 9)
    lines(refused(capsys, "resize", ODD, "out.png", "--scale", 2))
    lines(refused(capsys, "resize", "in.png", f"{ODD}.xyz", "--scale", 2))
    lines(refused(capsys, "resize", "in.png", "out.png", "--scale", ODD))
    lines(refused(capsys, "resize", "in.png", "out.png", f"--{ODD}"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_names_in_folders_are_escaped(capsys: pytest.CaptureFixture[str], jobs: int) -> None:
    Path("photos").mkdir()
    Path("photos", ODD).write_text("no picture" * 9)
    Path("photos", f"1{ODD}").touch()
    noise().save("photos/good.png")
    assert main(["resize", "photos", "out/", "--scale", "2", "--jobs", str(jobs)]) == 1
    first, second = lines(capsys.readouterr().err)
    assert first == r"tenter: photos/1two\nlines\x1bc\u202e\udcff.png: is empty"
    assert second.startswith(r"tenter: photos/two\nlines\x1bc\u202e\udcff.png: is not an image")


def test_a_failure_names_its_input_once(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.png", "aa.png"):
        noise("RGBA").save(name)
    assert main(["resize", "a.png", "aa.png", "out/", "--scale", "2", "--format", "jpg"]) == 1
    first, second = lines(capsys.readouterr().err)
    assert first.startswith("tenter: a.png: out/a.jpg: ") and second.startswith("tenter: aa.png: out/aa.jpg: ")


def test_names_that_begin_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("-a.png", "--b.png"):
        noise().save(name)
    assert main(["resize", "--scale", "2", "--", "-a.png", "--b.png", "out/"]) == 0
    assert main(["resize", "in.png", "--scale", "2", "--", "-a.png", "more/"]) == 0
    assert sorted(os.listdir("out")) == ["--b.png", "-a.png"] and sorted(os.listdir("more")) == ["-a.png", "in.png"]
    assert main(["resize", "--scale", "2", "--", "-a.png", "-c.png"]) == 0 and Path("-c.png").exists()
    capsys.readouterr()
    assert "unknown option -a.png" in refused(capsys, "resize", "in.png", "-a.png", "out/", "--scale", 2)


def test_a_pattern_whose_files_lie_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    Path("photos/deep").mkdir(parents=True)
    assert "is not below photos" in refused(capsys, "resize", "photos/*/../../in.png", "out/", "--scale", 2)


# ---- what libraries print


def damaged_lzw(name: str) -> None:
    noise().save(name, compression="tiff_lzw")
    data = bytearray(Path(name).read_bytes())
    data[8:40] = b"\xff" * 32
    Path(name).write_bytes(data)


def too_many_samples(name: str) -> None:
    """Which Pillow writes into its log."""
    noise().save(name)
    with Image.open(name) as image:
        tags = image.tag_v2
        assert tags[277] == 3
    data = bytearray(Path(name).read_bytes())
    place = data.index((277).to_bytes(2, "little") + (3).to_bytes(2, "little") + (1).to_bytes(4, "little"))
    data[place + 8 : place + 10] = (255).to_bytes(2, "little")
    Path(name).write_bytes(data)


def of_python_2(name: str) -> None:
    """Which NumPy warns about."""
    np.save(name, np.ones((3, 4)))
    Path(name).write_bytes(Path(name).read_bytes().replace(b"(3, 4), }  ", b"(3L, 4L), }"))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_libraries_add_no_lines(jobs: int) -> None:
    damaged_lzw("a.tif")
    too_many_samples("b.tif")
    of_python_2("c.npy")
    done = ran("resize", "a.tif", "b.tif", "c.npy", "out/", "--scale", 2, "--jobs", jobs)
    assert done.returncode == 1 and done.stdout == "1 done, 0 skipped, 2 failed; size: scale 2\n"
    first, second = lines(done.stderr)
    assert first.startswith("tenter: a.tif: ") and second.startswith("tenter: b.tif: ")


@pytest.mark.slow
@pytest.mark.parametrize("make", [damaged_lzw, too_many_samples, of_python_2])
def test_libraries_add_no_lines_to_one_file(make: Any) -> None:
    name = "a.npy" if make is of_python_2 else "a.tif"
    make(name)
    done = ran("resize", name, f"out{name[1:]}", "--scale", 2)
    if name == "a.npy":
        assert done.returncode == 0 and done.stderr == ""
    else:
        assert done.returncode == 2 and len(lines(done.stderr)) == 1


def test_any_exception_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise KeyError("what")

    monkeypatch.setattr(tenter.image, "resize", fails)
    assert refused(capsys, "resize", "in.png", "out.png", "--scale", 2) == "tenter: KeyError: 'what'\n"


# ---- streams


@pytest.mark.parametrize(
    ("name", "streams", "code", "said"),
    sampled(
        [
            ("in.png", ">&-", 0, 0),
            ("in.png", "2>&- >/dev/null", 0, 0),
            ("in.png", ">/dev/full", 2, 1),
            ("none.png", "2>&-", 2, 0),
            ("none.png", "<&- >&-", 2, 1),
            ("none.png", "2>/dev/full", 2, 0),
            ("in.png in.npy", ">/dev/full", 2, 1),
            ("in.png in.npy", ">&-", 0, 0),
        ],
        3,
    ),
)
def test_streams_that_are_closed_or_full(name: str, streams: str, code: int, said: int) -> None:
    out = "out/" if " " in name else "out.png"
    run = f"exec {sys.executable} -m tenter.cli.main resize {name} {out} --scale 2 --jobs 1 {streams}"
    done = subprocess.run(run, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, len(lines(done.stderr)), done.stdout) == (code, said, "")


def test_no_output_gets_the_descriptor_of_stderr() -> None:
    program = PROGRAMS / "without_stderr.py"
    subprocess.run([sys.executable, program], stdin=subprocess.DEVNULL, timeout=60, check=True)
    np.testing.assert_array_equal(np.asarray(Image.open("out.png")), np.asarray(Image.open("in.png")))


# ---- more than memory holds


def test_only_the_first_bytes_say_that_a_file_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    Path("large.png").write_text("no picture")
    os.truncate("large.png", TERABYTE)
    assert "is not an image" in refused(capsys, "resize", "large.png", "out.png", "--scale", 2)


def test_files_larger_than_memory(capsys: pytest.CaptureFixture[str]) -> None:
    noise().save("large.png")
    os.truncate("large.png", TERABYTE)
    with open("large.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (1 << 18, 1 << 18)}
        np.lib.format.write_array_header_1_0(file, header)
    os.truncate("large.npy", Path("large.npy").stat().st_size + (8 << 36))
    assert "of memory here" in refused(capsys, "resize", "large.png", "out.png", "--scale", 2)
    assert "of memory here" in refused(capsys, "resize", "large.npy", "out.npy", "--size", "2x2")


def test_pictures_larger_than_memory_are_not_decoded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("RGB", (900, 800)).save("plain.png")

    def decode(_: Any) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(limits, "machine_memory", lambda: 500_000)
    monkeypatch.setattr(Image.Image, "load", decode)
    monkeypatch.setattr(sys.modules["PIL.ImageFile"].ImageFile, "load", decode)
    said = refused(capsys, "resize", "plain.png", "out.png", "--size", "2x2")
    assert "plain.png: an image of 900 x 800 needs" in said


def test_a_decompression_bomb_is_called_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    said = refused(capsys, "resize", "in.png", "out.png", "--scale", 2)
    assert "in.png: Image size" in said and "decompression bomb" in said and "damaged" not in said

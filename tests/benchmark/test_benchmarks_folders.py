"""The benchmark of folders at a tiny size, on programs that the tests write. Nothing here is timed."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import folder_programs, folder_types, folders, installed, summaries
from benchmarks.folder_programs import PROGRAMS, Program

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are scripts of sh")

#: resizes as both programs are called here: to a file by its last argument, or to a folder after -o
RESIZES = """
import sys
from pathlib import Path
from PIL import Image
folder = Path(sys.argv[sys.argv.index("-o") + 1]).parent if "-o" in sys.argv else Path(sys.argv[-1]).parent
for file in (Path(name) for name in sys.argv[1:] if name.endswith(".jpg") and Path(name).is_file()):
    image = Image.open(file)
    image.resize([round(n * 64 / max(image.size)) for n in image.size], Image.Resampling.LANCZOS).save(folder / file.name)
"""
VERSIONS = {"vipsthumbnail": "libvips 8.14.1", "convert": "Version: ImageMagick 6.9.11-60 Q16 x86_64"}
#: programs of the same name that are others, and what the benchmark says of each
OTHERS = {
    "speaks of the real one": (
        "echo 'ImageMagick is not installed here, and neither is libvips 8'",
        "is not installed here",
    ),
    "another version, and fails": (
        "echo 'Version: ImageMagick 7.1.0'; echo 'libvips 8.14.1'; exit 3",
        "'exit status 3'",
    ),
    "silent": ("exit 0", "answers ''"),
    "no text": (r"printf '\377\376\000'", "answers '"),
    "waits for input": ("exec cat", "answers ''"),
    "hangs": ("exec sleep 100", "'nothing in 0.1 s'"),
    "cannot be started": (None, "Exec format error"),
}


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the programs that are on PATH, of which the machine's own are none."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def put(name: str, lines: str | None) -> None:
        (folder / name).write_bytes(b"\x00\x01" if lines is None else f"#!/bin/sh\n{lines}\n".encode())
        (folder / name).chmod(0o755)

    for name in ("sleep", "cat"):
        put(name, f'PATH={os.defpath} exec {name} "$@"')
    monkeypatch.setenv("PATH", str(folder))
    return put


def real(version: str, then: str) -> str:
    """A program that says its version where it is asked, and else does its work."""
    return f"case $1 in -*version) echo '{version}'; exit;; esac\n{then}"


def measured(tmp_path: Path) -> tuple[dict[str, folders.Row], str]:
    """The rows by their programs, and the page."""
    folders.make(tmp_path / "in", 2, 0.02, 1)
    names = ("tenter", "vipsthumbnail", "ImageMagick", "Pillow, processes")
    chosen = [program for program in PROGRAMS if program.name in names]
    rows = folders.measure(tmp_path / "in", tmp_path / "out", chosen, (64,), 1, 1)
    decoded = folders.decoded_alone(tmp_path / "in", tmp_path / "out", (64,), 1, 1)
    given = argparse.Namespace(pictures=2, megapixels=0.02, rounds=1, jobs=1)
    return {row.program: row for row in rows}, folders.page(rows, decoded, given, 1000.0)


def test_programs_resize_a_folder(tmp_path: Path, only: Any) -> None:
    script = tmp_path / "resizes.py"
    script.write_text(RESIZES)
    for name, version in VERSIONS.items():
        only(name, real(version, f'exec "{sys.executable}" "{script}" "$@"'))
    rows, page = measured(tmp_path)
    assert [*rows] == ["tenter", "vipsthumbnail", "ImageMagick", "Pillow, processes"]
    assert not any(row.failed or row.absent for row in rows.values()), rows
    assert all(row.rates[0] > 0 and row.far < folders.FAR for row in rows.values())
    assert all(f"| {name} | 64 |" in page for name in rows) and "| 1.00x |" in page and "Not measured" not in page
    assert "libvips 8.14.1, ImageMagick 6.9.11-60; 20" in page
    assert re.search(r"makes [\d.]+ pictures per second to 64 pixels\.", page)


def test_pages_say_first_who_is_faster_and_why() -> None:
    name, other = "Pillow, thumbnail(), processes", "vipsthumbnail"
    rows = [folders.Row(one, 256, [rate], 0.0) for one, rate in (("tenter", 2.0), (name, 4.0), (other, 1.0))]
    given = argparse.Namespace(pictures=2, megapixels=0.02, rounds=1, jobs=1)
    page = folders.page(rows, {256: 5.0}, given, 1000.0)
    lost = list(summaries.rows(folders.losses(rows)))
    assert lost == [["JPEG files to 256 pixels", name, "1 of 1", "all of the folder", "0.50x"]]
    assert f"- {name}: it decodes" in folders.losses(rows) and folders.losses(rows) in page
    kinds = [folder_types.Row("PNG", one, [s], [s], 1, n) for one, s, n in (("tenter", 1.0, 100), (other, 0.5, 150))]
    ((kind, library, _, why, ratio),) = summaries.rows(folder_types.page(kinds, 1))
    assert (kind, library, ratio) == ("PNG files", other, "0.50x") and "1.50 times as large" in why


@pytest.mark.parametrize("other", OTHERS)
def test_a_program_that_is_another_one_is_left_out_with_a_reason(
    other: str, only: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, reason = OTHERS[other]
    if other == "hangs":
        monkeypatch.setattr(installed, "PATIENCE", 0.1)
    for find, names in (
        (folder_programs.vipsthumbnail, ["vipsthumbnail"]),
        (folder_programs.imagemagick, ["magick", "convert"]),
    ):
        with pytest.raises(installed.Absent, match="is not installed"):
            find()
        for name in names:
            only(name, lines)
        with pytest.raises(installed.Absent) as left:
            find()
        assert str(left.value).count(reason) == len(names) and all(f"{name} -" in str(left.value) for name in names)
    assert folder_programs.versions().count(",") == 1  # tenter and Pillow


def test_the_page_says_what_is_not_measured_and_why(tmp_path: Path, only: Any) -> None:
    only("convert", "echo 'convert: a stand-in'")
    only("vipsthumbnail", real(VERSIONS["vipsthumbnail"], "echo 'libjpeg.so: not found' >&2; exit 1"))
    rows, page = measured(tmp_path)
    assert [name for name, row in rows.items() if row.rates] == ["tenter", "Pillow, processes"]
    assert rows["ImageMagick"].absent and not rows["ImageMagick"].failed and not rows["vipsthumbnail"].absent
    assert "| ImageMagick |" not in page and "| vipsthumbnail | 64 | failed |" in page
    last = page.split("Not measured:\n\n")[1].splitlines()
    assert [line.split(": ")[0] for line in last] == ["- vipsthumbnail", "- ImageMagick"]
    assert "libjpeg.so: not found" in last[0] and "convert -version` answers 'convert: a stand-in" in last[1]


def test_wrong_results_fail(tmp_path: Path) -> None:
    folders.make(tmp_path / "in", 1, 0.02, 1)

    def too_small(out: Path) -> None:
        Image.fromarray(np.zeros((40, 60, 3), np.uint8)).save(out / "0000.jpg")

    programs = [Program("small", lambda *_: too_small), Program("none", lambda *_: lambda out: None)]
    rows = folders.measure(tmp_path / "in", tmp_path / "out", programs, (64,), 1, 1)
    assert [(row.program, row.failed[:11]) for row in rows] == [("small", "size (60, 4"), ("none", "not one pic")]


@pytest.mark.slow
@pytest.mark.parametrize("types", [(*folder_types.TYPES,)])
def test_folders_of_each_type_are_measured_beside_pillow(
    types: tuple[str, ...], tmp_path: Path, only: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*folder_types.TYPES] == ["JPEG", "PNG", "WebP", "TIFF", "GIF"]
    small = {name: folder_types.TYPES[name]._replace(count=2, width=64, height=48, side=32) for name in types}
    monkeypatch.setattr(folder_types, "TYPES", small)
    rows = folder_types.measure(tmp_path, [*types], 2, 1, folders.timed)
    run = {(row.type, row.program) for row in rows if len(row.seconds) == 2 and row.n_bytes}
    ours = {(name, program) for name in small for program in ("tenter", "Pillow, processes")}
    assert run == {*ours, ("GIF", "Pillow, dithered")}
    page = folder_types.page(rows, 2)
    assert page.startswith(folders.BEGIN_TYPES) and "- vipsthumbnail, JPEG: " in page and "- ImageMagick, GIF: " in page


@pytest.mark.parametrize(
    ("theirs", "said"),
    [(1.0, "No type takes more than 1.2"), (0.5, "Slower than Pillow by more than 1.2: PNG (0.50x).")],
)
def test_the_page_says_which_types_are_slower_than_pillow(theirs: float, said: str) -> None:
    ours = folder_types.Row("PNG", "tenter", [1.0, 2.0], [1.0, 2.0])
    rows = [ours, folder_types.Row("PNG", "Pillow, processes", [1.0, 1.0], [theirs, 2 * theirs])]
    assert said in folder_types.page(rows, 2)

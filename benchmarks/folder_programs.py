"""The programs that `python -m benchmarks folders` compares, each as it resizes many files on all cores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import PIL
from PIL import Image

import tenter
from benchmarks.installed import Absent, Found, installed

#: resizes the files it was made for into a folder
Run = Callable[[Path], None]
Prepare = Callable[[list[Path], int, int, int], Run]
#: files that one process of a program without processes of its own takes: some for each, so that all end together
SHARES = 4


class Program(NamedTuple):
    """prepare: takes the files, the longer side, the quality and the number of processes; raises Absent if the program
    is not there. share: it resizes one file of so many, as it starts anew for each, so that its rate is the same."""

    name: str
    prepare: Prepare
    share: int = 1


def _tenter(files: list[Path], side: int, quality: int, jobs: int, *more: str) -> Run:
    call = [sys.executable, "-m", "tenter.cli.main", "resize", str(files[0].parent)]
    how = ["--fit", f"{side}x{side}", "--mode", "lanczos", "--quality", str(quality), "--subsampling", "4:2:0"]
    return lambda out: _call([*call, str(out), *how, "--jobs", str(jobs), "--force", *more])


def _vips(files: list[Path], side: int, quality: int, jobs: int) -> Run:
    program = vipsthumbnail().path

    def run(out: Path) -> None:
        how = ["--size", f"{side}x{side}", "-o", f"{out}/%s.jpg[Q={quality}]"]
        _shared([[program, *map(str, some), *how] for some in _shares(files, jobs)], jobs, VIPS_CONCURRENCY="1")

    return run


def _magick(files: list[Path], side: int, quality: int, jobs: int, hint: bool = False) -> Run:
    program = imagemagick().path
    define = ["-define", f"jpeg:size={2 * side}x{2 * side}"] if hint else []
    how = ["-filter", "Lanczos", "-resize", f"{side}x{side}", "-quality", str(quality)]

    def run(out: Path) -> None:
        calls = [[program, *define, str(file), *how, str(out / file.name)] for file in files]
        _shared(calls, jobs, MAGICK_THREAD_LIMIT="1", OMP_NUM_THREADS="1")

    return run


def _pillow(files: list[Path], side: int, quality: int, jobs: int, draft: bool = False) -> Run:
    def run(out: Path) -> None:
        with ProcessPoolExecutor(jobs) as pool:
            list(pool.map(partial(_one_by_pillow, out, side, quality, draft), files))

    return run


def _one_by_pillow(out: Path, side: int, quality: int, draft: bool, file: Path) -> None:
    with Image.open(file) as image:
        if draft:
            image.thumbnail((side, side), Image.Resampling.LANCZOS)
            small = image
        else:
            factor = side / max(image.size)
            small = image.resize([round(n * factor) for n in image.size], Image.Resampling.LANCZOS)
        small.save(out / file.name, quality=quality)


def decoding(files: list[Path], side: int, jobs: int) -> Run:
    """Decodes at the scale that thumbnail() asks the decoder for, and writes nothing."""

    def run(_: Path) -> None:
        with ProcessPoolExecutor(jobs) as pool:
            list(pool.map(partial(_decode, side), files))

    return run


def _decode(side: int, file: Path) -> None:
    gap = 2.0  # the default of thumbnail()
    with Image.open(file) as image:
        factor = side / max(image.size)
        width, height = (round(n * factor * gap) for n in image.size)
        image.draft(None, (width, height))
        image.load()


PROGRAMS = [
    Program("tenter", _tenter),
    Program("tenter --fast", lambda *given: _tenter(*given, "--fast")),
    Program("tenter --exact", lambda *given: _tenter(*given, "--exact")),
    Program("vipsthumbnail", _vips),
    Program("ImageMagick", _magick, share=5),
    Program("ImageMagick, jpeg:size", partial(_magick, hint=True), share=5),
    Program("Pillow, processes", _pillow),
    Program("Pillow, thumbnail(), processes", partial(_pillow, draft=True)),
]


def vipsthumbnail() -> Found:
    return installed(("vipsthumbnail",), "--vips-version", r"^libvips \d[\w.]*")


def imagemagick() -> Found:
    names = ("magick", "convert-im6", "convert-im7", "convert")
    return installed(names, "-version", r"(?<=^Version: )ImageMagick \d[\w.-]*")


def versions() -> str:
    found = [f"tenter {tenter.__version__}", f"Pillow {PIL.__version__}"]
    for find in (vipsthumbnail, imagemagick):
        with suppress(Absent):
            found.append(find().version)
    return ", ".join(found)


def _shares(files: list[Path], jobs: int) -> list[list[Path]]:
    size = max(1, -(-len(files) // (jobs * SHARES)))
    return [files[at : at + size] for at in range(0, len(files), size)]


def _shared(calls: list[list[str]], jobs: int, **environment: str) -> None:
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(partial(_call, **environment), calls))


def _call(call: list[str], **environment: str) -> None:
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise ValueError(f"{call[0]}: {done.stderr.strip() or done.returncode}")

"""Folders of each type of picture, end to end: by tenter without options, vipsthumbnail, ImageMagick and Pillow."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageSequence

from benchmarks.crops import photograph
from benchmarks.folder_programs import Run, _call, _shared, _shares, imagemagick, vipsthumbnail
from benchmarks.installed import Absent
from benchmarks.table import lined

#: Of Pillow's own save of the same pixels, the most that a type may take.
MOST = 1.2
FRAMES = 5


class Type(NamedTuple):
    """width, height: of the pictures that are made. side: the longer side of the results. save: Pillow's options. vips,
    magick: those of the other programs, for the same quality."""

    ending: str
    width: int
    height: int
    side: int
    save: dict[str, Any]
    vips: str = ""
    magick: tuple[str, ...] = ()


TYPES = {
    "JPEG": Type("jpg", 1600, 1200, 800, {"quality": 80}, "[Q=80]", ("-quality", "80")),
    "PNG": Type("png", 1600, 1200, 800, {}),
    "WebP": Type("webp", 1600, 1200, 800, {"quality": 80}, "[Q=80]", ("-quality", "80")),
    "TIFF": Type("tif", 1600, 1200, 800, {}),
    "GIF": Type("gif", 640, 480, 960, {}, "", ("-coalesce",)),
}
Programs = dict[str, Callable[[list[Path], Type, int], Run]]


class Row(NamedTuple):
    """seconds: of each round. n_bytes: of a result. absent: why it was not run, or how it failed."""

    type: str
    program: str
    seconds: list[float]
    n_bytes: float = 0
    absent: str = ""


def make(folder: Path, type_: Type, count: int) -> list[Path]:
    """Parts of one landscape; animations show it moving."""
    folder.mkdir(parents=True)
    margin = 8 * (count + FRAMES)
    whole = photograph(type_.height + margin, type_.width + margin, 3).astype(np.uint8)
    files = []
    for n in range(count):
        frames = []
        for k in range(FRAMES if type_.ending == "gif" else 1):
            at = 8 * (n + k)
            part = whole[at : at + type_.height, at : at + type_.width]
            frames.append(Image.fromarray(np.ascontiguousarray(part)))
        files.append(folder / f"{n:03}.{type_.ending}")
        more = {"save_all": True, "append_images": frames[1:], "duration": 80} if len(frames) > 1 else {}
        frames[0].save(files[-1], **type_.save, **more)
    return files


def _tenter(files: list[Path], type_: Type, jobs: int) -> Run:
    how = ["--fit", f"{type_.side}x{type_.side}", "--enlarge", "--jobs", str(jobs), "--force"]
    call = [sys.executable, "-m", "tenter.cli.main", "resize", str(files[0].parent)]
    return lambda out: _call([*call, str(out), *how])


def _vips(files: list[Path], type_: Type, jobs: int) -> Run:
    program = vipsthumbnail().path
    pages = "[n=-1]" if type_.ending == "gif" else ""

    def run(out: Path) -> None:
        how = ["--size", f"{type_.side}x{type_.side}", "-o", f"{out}/%s.{type_.ending}{type_.vips}"]
        calls = [[program, *(f"{file}{pages}" for file in some), *how] for some in _shares(files, jobs)]
        _shared(calls, jobs, VIPS_CONCURRENCY="1")

    return run


def _magick(files: list[Path], type_: Type, jobs: int) -> Run:
    program = imagemagick().path
    how = [*type_.magick, "-filter", "Lanczos", "-resize", f"{type_.side}x{type_.side}"]

    def run(out: Path) -> None:
        calls = [[program, str(file), *how, str(out / file.name)] for file in files]
        _shared(calls, jobs, MAGICK_THREAD_LIMIT="1", OMP_NUM_THREADS="1")

    return run


def _pillow(files: list[Path], type_: Type, jobs: int, dithered: bool = False) -> Run:
    def run(out: Path) -> None:
        with ProcessPoolExecutor(jobs) as pool:
            list(pool.map(partial(_one_by_pillow, out, type_, dithered), files))

    return run


def _one_by_pillow(out: Path, type_: Type, dithered: bool, file: Path) -> None:
    with Image.open(file) as image:
        frames = [_smaller(frame.convert("RGB"), type_.side, dithered) for frame in ImageSequence.Iterator(image)]
    more = {"save_all": True, "append_images": frames[1:], "duration": 80} if len(frames) > 1 else {}
    frames[0].save(out / file.name, **type_.save, **more)


def _smaller(frame: Image.Image, side: int, dithered: bool) -> Image.Image:
    factor = side / max(frame.size)
    made = frame.resize([round(n * factor) for n in frame.size], Image.Resampling.LANCZOS)
    if not dithered:
        return made
    return made.quantize(palette=made.quantize(256), dither=Image.Dither.FLOYDSTEINBERG)


PROGRAMS: Programs = {
    "tenter": _tenter,
    "vipsthumbnail": _vips,
    "ImageMagick": _magick,
    "Pillow, processes": _pillow,
}
#: Pillow's own save of a GIF does not dither.
OF_GIF: Programs = {**PROGRAMS, "Pillow, dithered": partial(_pillow, dithered=True)}


def measure(folder: Path, names: list[str], count: int, rounds: int, jobs: int, timed: Any) -> list[Row]:
    """Each round runs every program once, so that ratios are of runs beside each other. timed: runs one, in seconds."""
    rows = []
    for name in names:
        type_ = TYPES[name]
        files = make(folder / name, type_, count)
        runs: dict[str, Run] = {}
        seconds: dict[str, list[float]] = {}
        absent: dict[str, str] = {}
        sizes: dict[str, float] = {}
        for program, prepare in (OF_GIF if name == "GIF" else PROGRAMS).items():
            try:
                runs[program] = prepare(files, type_, jobs)
                seconds[program] = []
            except Absent as reason:
                absent[program] = str(reason)
        for _ in range(rounds):
            for program in [program for program in runs if program not in absent]:
                out = folder / "out"
                try:
                    seconds[program].append(timed(runs[program], out))
                    sizes[program] = _check(out, files, type_)
                except (OSError, ValueError, subprocess.CalledProcessError) as error:
                    absent[program] = f"failed: {str(error).splitlines()[0]}"
        for program in OF_GIF if name == "GIF" else PROGRAMS:
            found = [] if program in absent else seconds.get(program, [])
            rows.append(Row(name, program, found, sizes.get(program, 0), absent.get(program, "")))
    return rows


def _check(out: Path, files: list[Path], type_: Type) -> float:
    """The mean size of the results. Raises ValueError unless there is a picture of the right size for each file."""
    made = sorted(out.iterdir())
    if [path.name for path in made] != [path.name for path in files]:
        raise ValueError("not one picture for each file")
    for path in made[:2]:
        with Image.open(path) as image:
            if max(image.size) != type_.side or getattr(image, "n_frames", 1) != (
                FRAMES if type_.ending == "gif" else 1
            ):
                raise ValueError(f"size {image.size} and {getattr(image, 'n_frames', 1)} frames")
    return statistics.mean(path.stat().st_size for path in made)


def ratio(rows: list[Row], row: Row) -> float:
    """How many times as long a program takes as tenter, in the middle of the rounds."""
    (ours,) = (each for each in rows if (each.type, each.program) == (row.type, "tenter"))
    return statistics.median(theirs / mine for theirs, mine in zip(row.seconds, ours.seconds, strict=True))


def page(rows: list[Row], count: int, rounds: int) -> str:
    body = []
    for row in (row for row in rows if row.seconds):
        rate = count / statistics.median(row.seconds)
        cells = [f"{rate:.1f}", f"{ratio(rows, row):.2f}x", f"{row.n_bytes / 1e3:.0f}"]
        body.append([row.type, row.program, *cells])
    head = ["Type", "Program", "Pictures per second", "tenter is", "KB of a result"]
    about = (
        f"{count} pictures of 1600 x 1200 to 800 x 600, or {count} animations of {FRAMES} frames of 640 x 480 to "
        "960 x 720, each type to itself; tenter without options, the others at the same quality; the middle of "
        f"{rounds} rounds, in each of which every program runs once."
    )
    slower = [
        f"{row.type} ({1 / ratio(rows, row):.2f})"
        for row in rows
        if row.program.startswith("Pillow") and row.seconds and ratio(rows, row) * MOST < 1
    ]
    said = f"Slower than Pillow by more than {MOST}: {', '.join(slower)}." if slower else (
        f"No type takes more than {MOST} times as long as by Pillow."
    )  # fmt: skip
    left = "".join(f"- {row.program}, {row.type}: {row.absent}\n" for row in rows if row.absent)
    not_run = f"\nNot measured:\n\n{left}" if left else ""
    return f"## Types of files\n\n{about}\n\n{lined(head, body)}\n\n{said}\n{not_run}"

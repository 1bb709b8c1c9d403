"""Folders of each type of picture, end to end: by tenter without options, vipsthumbnail, ImageMagick and Pillow."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from benchmarks.crops import photograph
from benchmarks.folder_programs import Run, _call, _shared, _shares, imagemagick, vipsthumbnail
from benchmarks.installed import Absent
from benchmarks.machine import cores, now, processor, when
from benchmarks.summaries import Met, slower
from benchmarks.table import lined

#: Of Pillow's own save of the same pixels, the most that a type may take.
MOST = 1.2
#: Files so many times as large as tenter's were compressed less, which takes less time.
LARGER = 1.1
FRAMES = 5


class Type(NamedTuple):
    """count, width, height: of the pictures that are made. side: the longer side of the results. save: Pillow's
    options. vips, magick: those of the other programs, for the same quality."""

    ending: str
    count: int
    width: int
    height: int
    side: int
    save: dict[str, Any]
    vips: str = ""
    magick: tuple[str, ...] = ()


TYPES = {
    "JPEG": Type("jpg", 48, 2400, 1800, 1200, {"quality": 80}, "[Q=80]", ("-quality", "80")),
    "PNG": Type("png", 16, 2400, 1800, 1200, {}),
    "WebP": Type("webp", 32, 2400, 1800, 1200, {"quality": 80}, "[Q=80]", ("-quality", "80")),
    "TIFF": Type("tif", 48, 2400, 1800, 1200, {}),
    "GIF": Type("gif", 6, 640, 480, 960, {}, "", ("-coalesce",)),
}
Programs = dict[str, Callable[[list[Path], Type, int], Run]]


class Row(NamedTuple):
    """seconds, cpu: of each round, by the clock and by processors. n_bytes: of a result. absent: why it was not run, or
    how it failed."""

    type: str
    program: str
    seconds: list[float]
    cpu: list[float]
    count: int = 1
    n_bytes: float = 0
    absent: str = ""


def make(folder: Path, type_: Type) -> list[Path]:
    """Parts of one landscape; animations show it moving."""
    count = type_.count
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


#: What a person would write for Pillow: a process for each core, and each file read, resized and saved.
BY_PILLOW = """
import json, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from PIL import Image, ImageSequence

files, out, side, save, dithered, jobs = json.loads(sys.argv[1])

def smaller(frame):
    factor = side / max(frame.size)
    made = frame.resize([round(n * factor) for n in frame.size], Image.Resampling.LANCZOS)
    if not dithered:
        return made
    return made.quantize(palette=made.quantize(256), dither=Image.Dither.FLOYDSTEINBERG)

def one(name):
    with Image.open(name) as image:
        frames = [smaller(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    more = {"save_all": True, "append_images": frames[1:], "duration": 80} if len(frames) > 1 else {}
    frames[0].save(Path(out, Path(name).name), **save, **more)

if __name__ == "__main__":
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(one, files))
"""


def _pillow(files: list[Path], type_: Type, jobs: int, dithered: bool = False) -> Run:
    def run(out: Path) -> None:
        given = [[str(file) for file in files], str(out), type_.side, type_.save, dithered, jobs]
        _call([sys.executable, "-c", BY_PILLOW, json.dumps(given)])

    return run


PROGRAMS: Programs = {
    "tenter": _tenter,
    "vipsthumbnail": _vips,
    "ImageMagick": _magick,
    "Pillow, processes": _pillow,
}
#: Pillow's own save of a GIF does not dither.
OF_GIF: Programs = {**PROGRAMS, "Pillow, dithered": partial(_pillow, dithered=True)}


def measure(folder: Path, names: list[str], rounds: int, jobs: int, timed: Any) -> list[Row]:
    """Each round runs every program once, so that ratios are of runs beside each other. timed: runs one, in seconds."""
    rows = []
    for name in names:
        type_ = TYPES[name]
        files = make(folder / name, type_)
        runs: dict[str, Run] = {}
        seconds: dict[str, list[float]] = {}
        cpu: dict[str, list[float]] = {}
        absent: dict[str, str] = {}
        sizes: dict[str, float] = {}
        for program, prepare in (OF_GIF if name == "GIF" else PROGRAMS).items():
            try:
                runs[program] = prepare(files, type_, jobs)
                seconds[program], cpu[program] = [], []
            except Absent as reason:
                absent[program] = str(reason)
        for _ in range(rounds):
            for program in [program for program in runs if program not in absent]:
                out = folder / "out"
                try:
                    before = spent()
                    seconds[program].append(timed(runs[program], out))
                    cpu[program].append(spent() - before)
                    sizes[program] = _check(out, files, type_)
                except (OSError, ValueError, subprocess.CalledProcessError) as error:
                    absent[program] = f"failed: {str(error).splitlines()[0]}"
        for program in OF_GIF if name == "GIF" else PROGRAMS:
            if program in absent:
                rows.append(Row(name, program, [], [], absent=absent[program]))
            else:
                size = sizes.get(program, 0)
                rows.append(Row(name, program, seconds[program], cpu[program], type_.count, size))
    return rows


def spent() -> float:
    """Seconds of processors that programs have taken that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
    """How many times faster tenter is: the median over rounds of the program's CPU time / tenter's."""
    (ours,) = (each for each in rows if (each.type, each.program) == (row.type, "tenter"))
    return statistics.median(theirs / mine for theirs, mine in zip(row.cpu, ours.cpu, strict=True))


def size_apart(rows: list[Row], row: Row) -> str:
    """A program that compresses less is faster, and its files are larger."""
    (ours,) = (each for each in rows if (each.type, each.program) == (row.type, "tenter"))
    if row.n_bytes <= LARGER * ours.n_bytes:
        return ""
    return f"; its files are {row.n_bytes / ours.n_bytes:.2f} times as large"


def page(rows: list[Row], rounds: int) -> str:
    body = []
    for row in (row for row in rows if row.seconds):
        rate, each = row.count / statistics.median(row.seconds), statistics.median(row.cpu) / row.count
        cells = [f"{rate:.1f}", f"{each * 1e3:.0f}", f"{ratio(rows, row):.2f}x", f"{row.n_bytes / 1e3:.0f}"]
        body.append([row.type, row.program, *cells])
    head = ["Type", "Program", "Pictures per second", "CPU ms for each", "tenter, times faster", "KB of a result"]
    about = (
        f"Pictures of 2400 x 1800 to 1200 x 900, and animations of {FRAMES} frames of 640 x 480 to 960 x 720, by whole "
        f"programs at the same quality; the middle of {rounds} rounds, every program runs once per round. Ratios are "
        f"of processors' time. {processor()}, {cores()} cores; {when(now())}."
    )
    lost = slower(
        Met(f"{row.type} files", f"processor time{size_apart(rows, row)}", row.program, ratio(rows, row))
        for row in rows if row.seconds and row.program != "tenter"
    )  # fmt: skip
    behind = [
        f"{row.type} ({ratio(rows, row):.2f}x)"
        for row in rows
        if row.program.startswith("Pillow") and row.seconds and ratio(rows, row) * MOST < 1
    ]
    said = f"Slower than Pillow by more than {MOST}: {', '.join(behind)}." if behind else (
        f"No type takes more than {MOST} times as long as by Pillow."
    )  # fmt: skip
    left = "".join(f"- {row.program}, {row.type}: {row.absent}\n" for row in rows if row.absent)
    not_run = f"\nNot measured:\n\n{left}" if left else ""
    return f"## Types of files\n\n{about}\n\n{lost}\n\n{said}\n\n{lined(head, body)}\n{not_run}"

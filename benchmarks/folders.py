"""Folders of photographs, end to end: pictures per second from JPEG files to smaller ones, by whole programs.

`python -m benchmarks folders` writes docs/measured/folders.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from benchmarks import folder_types
from benchmarks.crops import photograph
from benchmarks.folder_programs import PROGRAMS, Program, Run, decoding, versions
from benchmarks.installed import Absent
from benchmarks.machine import cores, now, processor, when
from benchmarks.summaries import Met, slower
from benchmarks.table import lined

PAGE = Path("docs/measured/folders.md")
PICTURES, MEGAPIXELS, ROUNDS = 200, 12.0, 2
BEGIN_TYPES = "## Types of files"
DIFFERENT = 20  # pictures; the others are links to these
SIZES = (1600, 256)
QUALITY = 92
RATIO = 4 / 3
JITTER = 64  # pixels, so that each photograph is another one
FAR = 6.0  # levels, the mean of a picture: filters differ, and programs shrink while they decode
# Why a program is faster.
REASONS = {
    "Pillow, thumbnail(), processes": "it decodes at a smaller scale than tenter without options. `--fast` decodes at "
    "the same scale.",
}


class Row(NamedTuple):
    """Pictures per second of each round; how far the results are from Pillow's, in levels. absent: why the program was
    not run."""

    program: str
    side: int
    rates: list[float]
    far: float
    failed: str = ""
    absent: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    usual = "(default: %(default)s)"
    parser.add_argument("--pictures", type=int, default=PICTURES, metavar="N", help=usual)
    parser.add_argument("--megapixels", type=float, default=MEGAPIXELS, metavar="M", help=f"of each {usual}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=usual)
    parser.add_argument("--jobs", type=int, default=cores(), metavar="N", help="processes (default: one per core)")
    parser.add_argument("--part", choices=("photographs", "types"), help="of the page (default: both)")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with this in their name; not written")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"where to write (default: {PAGE}, if nothing is cut)")


def main(chosen: argparse.Namespace) -> int:
    code, text = 0, (PAGE.read_text() if PAGE.exists() else "").partition(BEGIN_TYPES)
    first, second = text[0], text[2]
    if chosen.part != "types":
        code, first = photographs(chosen)
    if chosen.part != "photographs":
        second = of_types(chosen)
    usual = (chosen.pictures, chosen.megapixels, chosen.only) == (PICTURES, MEGAPIXELS, "")
    whole = f"{first.rstrip()}\n\n{BEGIN_TYPES}{second}"
    print(whole)
    if (out := chosen.out or (PAGE if usual else None)) is not None:
        out.write_text(whole)
        print(f"wrote {out}")
    return code


def of_types(chosen: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory(prefix="tenter-folders-") as name:
        rounds = max(3, chosen.rounds)
        rows = folder_types.measure(Path(name), list(folder_types.TYPES), rounds, chosen.jobs, timed)
    _, _, text = folder_types.page(rows, rounds).partition(BEGIN_TYPES)
    return text


def photographs(chosen: argparse.Namespace) -> tuple[int, str]:
    with tempfile.TemporaryDirectory(prefix="tenter-folders-") as name:
        source = Path(name, "in")
        make(source, chosen.pictures, chosen.megapixels, chosen.jobs)
        programs = [p for p in PROGRAMS if chosen.only.lower() in p.name.lower()]
        rows = measure(source, Path(name, "out"), programs, SIZES, chosen.rounds, chosen.jobs)
        decoded = decoded_alone(source, Path(name, "out"), SIZES, chosen.rounds, chosen.jobs)
        nbytes = sum(path.stat().st_size for path in source.iterdir()) / chosen.pictures
    return int(any(row.failed for row in rows)), page(rows, decoded, chosen, nbytes)


def make(folder: Path, pictures: int, megapixels: float, jobs: int) -> None:
    """Photographs of one landscape, each cut elsewhere, under as many names as there are to be pictures."""
    folder.mkdir()
    height = round((megapixels * 1e6 / RATIO) ** 0.5)
    whole = photograph(height + JITTER, round(height * RATIO) + JITTER, 3).astype(np.uint8)
    with ProcessPoolExecutor(jobs, initializer=_take, initargs=(whole,)) as pool:
        list(pool.map(partial(_write, folder, height), range(min(pictures, DIFFERENT))))
    for n in range(DIFFERENT, pictures):
        os.link(named(folder, n % DIFFERENT), named(folder, n))


_whole: Any = None


def _take(whole: Any) -> None:
    global _whole
    _whole = whole


def _write(folder: Path, height: int, n: int) -> None:
    top, left = np.random.default_rng(n).integers(0, JITTER, 2)
    pixels = _whole[top : top + height, left : left + round(height * RATIO)]
    Image.fromarray(np.ascontiguousarray(pixels)).save(named(folder, n), quality=QUALITY)


def named(folder: Path, n: int) -> Path:
    return folder / f"{n:04}.jpg"


def measure(
    source: Path, out: Path, programs: list[Program], sides: tuple[int, ...], rounds: int, jobs: int
) -> list[Row]:
    """Each round runs every program once, in an order that turns, so that none always follows the same one."""
    files = sorted(source.iterdir())
    rows = []
    for side in sides:
        truth = smaller(files[0], side)
        some = {p: files[: -(-len(files) // p.share)] for p in programs}
        runs: dict[Program, Run] = {}
        absent: dict[Program, str] = {}
        for program in programs:
            try:
                runs[program] = program.prepare(some[program], side, QUALITY, jobs)
            except Absent as reason:
                absent[program] = str(reason)
        rates: dict[Program, list[float]] = {p: [] for p in programs}
        far: dict[Program, float] = {}
        failed: dict[Program, str] = {}
        for n in range(rounds if runs else 0):
            order = [*runs][n % len(runs) :] + [*runs][: n % len(runs)]
            for program in order:
                if program not in failed:
                    try:
                        rates[program].append(len(some[program]) / timed(runs[program], out))
                        far[program] = distance(out, some[program], side, truth)
                    except (OSError, ValueError, subprocess.CalledProcessError) as error:
                        failed[program] = str(error).splitlines()[0]
        for p in programs:
            rows.append(Row(p.name, side, rates[p], far.get(p, 0.0), failed.get(p, ""), absent.get(p, "")))
            print(line(rows[-1]), flush=True)
    return rows


def decoded_alone(source: Path, out: Path, sides: tuple[int, ...], rounds: int, jobs: int) -> dict[int, float]:
    """Pictures per second by side. No program can exceed it that decodes at the scale of thumbnail(), by Pillow."""
    files = sorted(source.iterdir())
    return {
        side: len(files) / statistics.median(timed(decoding(files, side, jobs), out) for _ in range(rounds))
        for side in sides
    }


def timed(run: Run, out: Path) -> float:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    os.sync()  # what an earlier program has written is not written while this one is measured
    start = time.perf_counter()
    run(out)
    return time.perf_counter() - start


def smaller(file: Path, side: int) -> Any:
    with Image.open(file) as image:
        factor = side / max(image.size)
        return np.asarray(image.resize([round(n * factor) for n in image.size], Image.Resampling.LANCZOS))


def distance(out: Path, files: list[Path], side: int, truth: Any) -> float:
    """From Pillow's pixels. Raises ValueError unless there is a picture of the right size for each file."""
    if sorted(path.name for path in out.iterdir()) != [path.name for path in files]:
        raise ValueError("not one picture for each file")
    with Image.open(out / files[0].name) as image:
        if max(abs(n - m) for n, m in zip(image.size, truth.shape[1::-1])) > 1 or max(image.size) != side:
            raise ValueError(f"size {image.size}, not {truth.shape[1::-1]}")
        seen = np.asarray(image.convert("RGB").resize(truth.shape[1::-1]))
    return float(np.abs(seen.astype(int) - truth).mean())


def line(row: Row) -> str:
    if row.absent:
        return f"{row.program}, {row.side}: left out ({row.absent})"
    if row.failed:
        return f"{row.program}, {row.side}: failed ({row.failed})"
    return f"{row.program}, {row.side}: {statistics.median(row.rates):.1f} pictures/s, {row.far:.1f} levels off"


def page(rows: list[Row], decoded: dict[int, float], chosen: argparse.Namespace, nbytes: float) -> str:
    ours = {row.side: statistics.median(row.rates) for row in rows if row.program == "tenter" and row.rates}
    body = []
    for row in rows:
        if row.absent:
            continue
        if row.failed:
            body.append([row.program, str(row.side), "failed", "-", "-"])
            continue
        rate = statistics.median(row.rates)
        ratio = f"{ours[row.side] / rate:.2f}x" if row.side in ours else "-"
        mark = " †" if row.far > FAR else ""
        body.append([row.program + mark, str(row.side), f"{rate:.1f}", ratio, f"{row.far:.1f}"])
    head = [
        "Program",
        "Longer side",
        "Pictures per second",
        "tenter, times faster",
        "difference from Pillow, of 255",
    ]
    about = (
        f"{chosen.pictures} generated JPEG files of {chosen.megapixels:g} megapixels and {nbytes / 1e6:.1f} MB, to "
        f"JPEG files of quality {QUALITY} whose longer side is given, by whole programs, {chosen.jobs} processes at a "
        f"time; the median of {chosen.rounds} rounds. ImageMagick is measured on a fifth of them. The difference is "
        "the mean over the first picture, compared with Pillow's result before JPEG compression. "
        f"{processor()}, {cores()} cores; {versions()}; {when(now())}."
    )
    decoders = (
        "`--fast`, `thumbnail()` and `jpeg:size` let the JPEG decoder shrink down to twice the size, as "
        "vipsthumbnail always does; tenter without options lets it shrink to four times the size "
        "([file formats](../file-formats.md#jpegs-decoded-at-a-reduced-scale)); `--exact`, Pillow's `resize` and "
        "ImageMagick decode in full."
    )
    bounds = " and ".join(f"{rate:.1f} pictures per second to {side} pixels" for side, rate in decoded.items())
    bound = f"Decoding alone, at the scale of `thumbnail()` and by as many processes, makes {bounds}."
    marked = "\n† is further from Pillow's pixels than filters differ.\n" if any(row.far > FAR for row in rows) else ""
    title = "# Folders of photographs\n\n`python -m benchmarks folders` writes this page.\n\n"
    text = [title + about, losses(rows), decoders, bound, lined(head, body)]
    return "\n\n".join(text) + f"\n{marked}{not_measured(rows)}"


def not_measured(rows: list[Row]) -> str:
    """The programs that were not run, and those that failed, each with its reason."""
    reasons = {row.program: row.absent or f"failed: {row.failed}" for row in rows if row.absent or row.failed}
    return "".join(["\nNot measured:\n\n", *(f"- {name}: {why}\n" for name, why in reasons.items())]) if reasons else ""


def losses(rows: list[Row]) -> str:
    """Where another program is faster than tenter without options, and why."""
    ours = {row.side: statistics.median(row.rates) for row in rows if row.program == "tenter" and row.rates}
    met = [
        Met(
            f"JPEG files to {row.side} pixels",
            "all of the folder",
            row.program,
            ours[row.side] / statistics.median(row.rates),
        )
        for row in rows
        if row.rates and row.side in ours and not row.program.startswith("tenter")
    ]
    found = slower(met)
    return found + "".join(f"\n\n- {name}: {reason}" for name, reason in REASONS.items() if f"| {name} |" in found)

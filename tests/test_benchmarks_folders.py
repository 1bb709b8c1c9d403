"""The benchmark of folders at a tiny size: programs run, and results of a wrong size are found. Nothing here is timed."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
from benchmarks import folders
from benchmarks.folder_programs import PROGRAMS, Program

Image = pytest.importorskip("PIL.Image")


def test_programs_resize_a_folder(tmp_path: Path) -> None:
    folders.make(tmp_path / "in", 2, 0.02, 1)
    names = ("tenter", "vipsthumbnail", "ImageMagick", "Pillow, processes")
    chosen = [program for program in PROGRAMS if program.name in names]
    rows = folders.measure(tmp_path / "in", tmp_path / "out", chosen, (64,), 1, 1)
    assert {"tenter", "Pillow, processes"} <= {row.program for row in rows}
    assert not any(row.failed for row in rows) and all(row.rates[0] > 0 for row in rows)
    assert all(row.far < folders.FAR for row in rows)
    given = argparse.Namespace(pictures=2, megapixels=0.02, rounds=1, jobs=1)
    page = folders.page(rows, given, 1000.0)
    assert all(f"| {row.program} | 64 |" in page for row in rows) and "| 1.00x |" in page


def test_wrong_results_fail(tmp_path: Path) -> None:
    folders.make(tmp_path / "in", 1, 0.02, 1)

    def too_small(out: Path) -> None:
        Image.fromarray(np.zeros((40, 60, 3), np.uint8)).save(out / "0000.jpg")

    programs = [Program("small", lambda *_: too_small), Program("none", lambda *_: lambda out: None)]
    rows = folders.measure(
        tmp_path / "in", tmp_path / "out", [*programs, Program("absent", lambda *_: None)], (64,), 1, 1
    )
    assert [(row.program, row.failed[:11]) for row in rows] == [("small", "size (60, 4"), ("none", "not one pic")]

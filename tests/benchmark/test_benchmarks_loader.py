"""The benchmark of data loaders, on passes that the test writes, and once in small. Nothing here is timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roots import ROOT

pytest.importorskip("PIL.Image")
pytest.importorskip("torch")
from benchmarks import loader, summaries


def of(*rates: float) -> dict[int, list[loader.Pass]]:
    return {workers: [loader.Pass(rate, 1e3 / rate) for rate in rates] for workers in (0, 1, 2)}


def test_the_page_has_every_library_and_says_which_is_faster_in_the_median_of_rounds() -> None:
    other = "Pillow and NumPy"
    for rates, slower in (((100, 150, 400), False), ((400, 250, 100), True)):
        page = loader.page({"tenter": of(200, 200, 200), other: of(*rates), loader.ALONE: of(800, 800, 800)}, 16, 3)
        lost = [line[1] for line in summaries.rows(page)]
        assert lost == [other] * 2 * slower, "decoding alone is no library"
        assert f"| {other} | {1e3 / rates[1]:.2f} | {rates[1] / 800:.0%} | {rates[1]} | {rates[1]} |" in page


@pytest.mark.slow
def test_loaders_are_measured(tmp_path: Path) -> None:
    out = tmp_path / "loader.md"
    program = [sys.executable, "-m", "benchmarks", "loader", "--pictures", "16", "--rounds", "1", "--out", str(out)]
    subprocess.run(program, capture_output=True, timeout=300, check=True, cwd=ROOT)
    found = {line.split(" | ")[0].strip("| ") for line in out.read_text().splitlines()}
    assert {"tenter", "Pillow and NumPy", "decoding alone"} <= found

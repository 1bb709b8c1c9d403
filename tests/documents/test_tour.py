"""examples/tour.py: it shows every operation, draws every mode, and times the libraries that are installed."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tenter
from roots import ROOT
from sweeps import sampled

pytest.importorskip("PIL")
sys.path.append(str(ROOT / "examples"))

import tour
from PIL import Image


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, tour.__file__, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_end_to_end(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (130, 90, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.jpg")
    done = run(tmp_path, "--photo", "photo.jpg", "--out", "sheet.png")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80 and lines[-1].endswith(": sheet.png")
    assert sorted(os.listdir(tmp_path)) == ["photo.jpg", "sheet.png"]
    with Image.open(tmp_path / "sheet.png") as sheet:
        sheet.load()
        assert sheet.format == "PNG" and sheet.width > 1000


def test_the_photograph_of_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [tour.__file__])
    monkeypatch.setattr(tour, "show_times", lambda photo: None)
    tour.main()
    assert os.listdir(tmp_path) == ["tenter-tour.png"]


MISSING = [
    ("tour", "PIL", "tour"), ("tour", "matplotlib", "tour"), ("train_images", "torch", "torch,cli"),
    ("transformers_models", "transformers", "models"),
]  # fmt: skip


@pytest.mark.parametrize("example, missing, extra", sampled(MISSING, len(MISSING)))
def test_a_package_that_is_missing_is_named_in_one_line(tmp_path: Path, example: str, missing: str, extra: str) -> None:
    file = str(Path(tour.__file__).with_name(f"{example}.py"))
    (tmp_path / "without.py").write_text(
        f"import runpy, sys\nsys.modules[{missing!r}] = None\n"
        f"sys.argv = [{file!r}]\nrunpy.run_path({file!r}, run_name='__main__')"
    )
    command = [sys.executable, "without.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert missing in last and last.endswith(f'is not installed: pip install ".[{extra}]"')


def test_a_small_photograph_is_refused(tmp_path: Path) -> None:
    Image.new("RGB", (200, 80)).save(tmp_path / "photo.png")
    done = run(tmp_path, "--photo", "photo.png")
    assert done.returncode == 2 and "at least 88 x 88 pixels, got 200 x 80" in done.stderr


def test_the_results_are_what_the_documents_say(capsys: pytest.CaptureFixture[str]) -> None:
    tour.show_examples()
    said = capsys.readouterr().out
    for call, result in {
        "repeat_interleave(x, 2)": "[10 10 20 20 30 30]",
        "repeat_interleave(x, [1, 3, 2])": "[10 20 20 20 30 30]",
        "repeat(x, 2)": "[10 20 30 10 20 30]",
        "tile(y, 2)": "[[1 2 1 2]\n [3 4 3 4]]",
        "expand(x, 1000, 3).strides": "(0, 8)",
        "interpolate(s, 6, mode='linear')": "[[[ 0.   2.5  7.5 12.5 17.5 20. ]]]",
        "resize(signal, 2, like='pillow')": "[ 3.75 16.25]",
        "interp(signal, [0.5, 2.0], [0.0, 1.0, 5.0])": "[ 5.  12.5]",
        "A.T.apply(np.arange(1, 7), axis=0)": "[ 1  9 11]",
    }.items():
        assert f">>> {call}\n{result}\n" in said
    assert said.count(">>> ") == sum(map(len, tour.EXAMPLES.values())) and said.count("ValueError: ") == 2


def test_every_operation_is_shown() -> None:
    operations = {name for name in tenter.__all__ if inspect.isfunction(getattr(tenter, name))}
    shown = {re.match(r"\w+", call)[0] for calls in tour.EXAMPLES.values() for call in calls}
    assert operations - shown == {"axis_map", "explain", "get_num_threads", "set_num_threads", "show_config"}


def test_every_mode_is_on_the_sheet() -> None:
    modes = {"nearest", "nearest-exact", "bilinear", "bicubic", "area", "lanczos"}
    for tiles in (tour.ENLARGED, tour.SHRUNK):
        assert {how.split(", ")[0] for how in tiles} == modes


@pytest.mark.parametrize("missing", [(), ("torch",), ("cv2",), ("torch", "cv2")])
def test_libraries_that_are_missing_have_a_dash(missing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    rows = tour.timed(np.zeros((96, 120, 3), np.uint8))
    names = {"torch": "PyTorch", "cv2": "OpenCV"}
    here = {names[module] for module in names if tour.installed(module) is not None}
    assert here.isdisjoint({names[module] for module in missing})
    assert {library for calls in rows.values() for library in calls} == {"tenter", "NumPy", "Pillow"} | here
    for calls in rows.values():
        for call in calls.values():
            call()

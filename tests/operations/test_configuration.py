"""What show_config and `tenter --version` say is what tenter does."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

import tenter
from tenter import _native, configuration
from tenter._arrays import oldest_versions, thread_count
from tenter.cli import main as cli

WITHOUT_TORCH = "import os, tenter\nif os.fork() == 0: tenter.show_config()\nelse: os.wait(); tenter.show_config()"


def lines(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.splitlines())


def test_the_command_prints_what_the_function_prints(capsys):
    tenter.show_config()
    printed = capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert capsys.readouterr().out == printed and ended.value.code == 0
    said = lines(printed)
    assert [*said] == [f"tenter {tenter.__version__}", "instruction set", "threads", "pages", "libraries"]
    assert said["instruction set"] == _native.level() and said["pages"].startswith(f"{mmap.PAGESIZE} bytes")
    assert f"numpy {np.__version__}" in said["libraries"].split(", ")


def test_threads_are_named_with_who_chose_them(monkeypatch, capsys):
    monkeypatch.setattr(thread_count, "chosen", None)
    program = [sys.executable, "-c", WITHOUT_TORCH]
    for asked, whose in (
        ("3", "3 (OMP_NUM_THREADS)"),
        ("", f"{len(os.sched_getaffinity(0))} (the cores of this process)"),
    ):
        out = subprocess.run(
            program, env=os.environ | {"OMP_NUM_THREADS": asked}, capture_output=True, text=True
        ).stdout
        child, parent = out[: len(out) // 2], out[len(out) // 2 :]
        assert "threads: 1 (one in a forked child)" in child + parent and f"threads: {whose}" in parent + child
    tenter.set_num_threads(5)
    tenter.show_config()
    assert "threads: 5 (tenter.set_num_threads)" in capsys.readouterr().out
    tenter.set_num_threads(None)
    torch = pytest.importorskip("torch")
    tenter.show_config()
    assert f"threads: {torch.get_num_threads()} (PyTorch's)" in capsys.readouterr().out
    with thread_count.one_thread():
        assert lines(configuration.configuration())["threads"].startswith("1 (one,")


def test_libraries_that_are_missing_or_too_old_are_named(monkeypatch):
    versions = {"numpy": "2.4.6", "torch": "2.5.1+cpu", "jax": None}
    monkeypatch.setattr(configuration, "installed", lambda name: versions.get(name, "99.1"))
    said = lines(configuration.configuration())["libraries"].split(", ")
    assert "numpy 2.4.6" in said and "no jax" in said and "dask 99.1" not in said
    assert "torch 2.5.1+cpu (too old: 2.6 or newer is needed)" in said and oldest_versions.too_old("PyTorch", "2.5.1")

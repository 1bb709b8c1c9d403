"""What the benchmark package writes, of tiny inputs: pages, figures and results, and its command."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from benchmarks import __main__ as command, growth, latency, report
from benchmarks.machine import Settings, machine, sentence
from benchmarks.results import BANDWIDTH, Contest, Direction, Footprint, Point, Result, Target

SETTINGS = Settings(torch.get_num_threads(), 0.0, 1e9)


@pytest.fixture
def measured():
    forward = Direction(0.002, contests={"PyTorch": Contest(2.0, ours_ms=0.002, peer_ms=0.004)})
    ways = [Direction(1.0, contests={"PyTorch": Contest(ratio)}) for ratio in (8.5, 9.5)]
    return {
        "table": [Result("Repeat", "repeat (1024, 1024) by (4, 4), float32", *ways, [Target(BANDWIDTH, 0.75, 0.6)])],
        "latency": [Point("op", "tenter", at, forward) for at in (4, 64)],
        "growth": [Point(panel, "op", at, forward) for panel in growth.PANELS for at in (1, 2)],
        "memory": [Footprint("op", 2**20, {"tenter": 0, "PyTorch": 5})],
    }


@pytest.fixture
def out(tmp_path) -> Path:
    (tmp_path / "x.md").write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    return tmp_path / "x.json"


def test_results_survive_json(measured):
    for part, found in measured.items():
        assert [report.READ[part](json.loads(json.dumps(asdict(of)))) for of in found] == found


@pytest.mark.slow
def test_pages_change_between_their_markers_alone(out, measured):
    about = machine(SETTINGS)
    written = report.write(out, about, measured)
    assert {p.name for p in written} == {"x.json", "x.md", "x-latency.png", "x-growth.png"}
    assert all(p.stat().st_size > 0 for p in written)
    page = out.with_suffix(".md").read_text()
    assert page.startswith("before\n" + report.BEGIN) and page.endswith(report.END + "\nafter\n")
    assert "old" not in page and sentence(about) in page
    for heading in ("By library", "Small sizes", "Growth"):
        assert f"## {heading}\n" in page
    report.write(out, about, measured)
    assert out.with_suffix(".md").read_text() == page


@pytest.mark.slow
def test_parts_that_were_not_measured_are_kept(out, measured):
    about = machine(SETTINGS)
    report.write(out, about, measured)
    before = json.loads(out.read_text())
    other = {**about, "date": "1999-01-01"}
    report.write(out, other, {"memory": [Footprint("another", failed="no")]})
    after = json.loads(out.read_text())
    assert after.pop("memory")["found"][0]["name"] == "another" and before.pop("memory")
    assert after == before
    page = out.with_suffix(".md").read_text()
    assert f"table, latency, growth: {sentence(about)}" in page and f"memory: {sentence(other)}" in page


def test_without_markers_nothing_is_written(out, measured):
    out.with_suffix(".md").write_text("no markers")
    with pytest.raises(ValueError, match="benchmark:begin"):
        report.write(out, machine(SETTINGS), measured)
    assert not out.exists() and out.with_suffix(".md").read_text() == "no markers"


def test_the_first_run_makes_the_page(tmp_path, measured):
    out = tmp_path / "y.json"
    report.write(out, machine(SETTINGS), {"memory": measured["memory"], "table": measured["table"]})
    text = (tmp_path / "y.md").read_text()
    assert text.startswith("# Calls on the CPU\n") and "## By library\n" in text
    every = report.every_call(out)
    assert all(f"### {heading}\n" in every for heading in ("Of the copy bandwidth", "Repeat", "Peak memory"))


def test_the_command(tmp_path, monkeypatch, capsys):
    out = tmp_path / "x.json"
    monkeypatch.setattr(command, "copy_bandwidth", lambda: 1e9)
    monkeypatch.setattr(latency, "SIDES", (1, 2))
    monkeypatch.setattr(sys, "argv", f"x cpu --part latency --only tile --seconds 0 --out {out}".split())
    assert command.main() == 0
    panels = {p["panel"] for p in json.loads(out.read_text())["latency"]["found"]}
    assert panels == {"tile by (2, 2)", "numpy.tile by (2, 2)"}
    monkeypatch.setattr(sys, "argv", ["x", "cpu", "--part", "latency", "--only", "nothing has this"])
    assert command.main() == 2
    assert "nothing contains" in capsys.readouterr().err


def test_failures_are_counted():
    failed = Direction(failed="x")
    assert command.failures([Result("g", "n", Direction(), failed), Point("p", "n", 1, failed), Footprint("n")]) == 2

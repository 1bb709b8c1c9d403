"""The benchmarks of calls that do not repeat, at tiny sizes: every workload runs and is right. Nothing here is timed."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from benchmarks import (
    __main__ as command,
    crops,
    new_calls,
    new_report,
    peers,
    photograph_peers,
    picture_peers,
    race,
    ragged,
    signal_calls,
    signal_truth,
    signals,
    summaries,
)
from benchmarks.race import Drawn, Work
from benchmarks.results import Contest
from benchmarks.workloads import EXACT

from tenter import _native

CUT = {"augment": 20, "ragged": 8, "segments": 1000, "signals": 1000, "photographs": 40}
THREADS = {"augment": 1, "ragged": 1, "segments": 1, "signals": 2, "photographs": 2}
FAR = 10**9  # bytes


def tiny(part: str) -> list[Work]:
    return [w for w in new_calls.PARTS[part].works(THREADS[part], CUT[part]) if not w.name.endswith("100,000")]


def work(ours, peer, draw=lambda rng: int(rng.integers(10**6)), truth=None) -> Work:
    return Work("group", "name", draw, ours, {"P": peer}, truth, EXACT)


# ---- measuring


def test_each_round_is_new_and_the_same_for_all():
    made: dict[str, list[int]] = {"tenter": [], "P": []}
    called: list[tuple[str, int]] = []

    def maker(name: str):
        def make(n: int):
            made[name].append(n)
            return lambda: called.append((name, n)) or np.zeros(1)

        return make

    found = race.race(work(maker("tenter"), maker("P"))._replace(rounds=4), 1, 10.0)
    assert not found.failed and found.contests["P"].pairs == 4
    rounds = made["P"][1 + race.HELD :]  # before these the check's, and those that are held
    assert list(dict.fromkeys(made["tenter"]))[-len(rounds) :] == rounds and len(set(rounds)) == len(rounds)
    # Each call of ours is made when it is new; by its plan and without it when all have had their turn; before both.
    *_, last, warming = rounds
    assert sorted(name for name, n in called if n == warming) == ["P", "tenter"]
    pairs, left = divmod(
        [name for name, n in called if n == last].count("tenter") - 1, 2 * (_native.tuning.seldom_calls + 3)
    )
    assert 1 <= pairs <= race.MOST_PAIRS and left == 0


class Numbered(NamedTuple):
    n: int

    def __call__(self) -> object:
        return np.zeros(1)


def test_what_a_new_call_costs_beside_a_repeated_one(monkeypatch):
    known: set[Numbered] = set()

    def clock(calls):
        """Three seconds for calls of which nothing is remembered, and two."""
        new = not known.issuperset(calls)
        known.update(calls)
        return 3.0 if new else 2.0

    monkeypatch.setattr(race, "clock", clock)
    monkeypatch.setattr(race, "forget", known.clear)
    found = race.race(work(Numbered, lambda n: Numbered(-n))._replace(rounds=3, warm=False), 1, 10.0)
    assert (found.ours_ms, found.again_ms, found.new_to_repeated) == (3000.0, 2000.0, 1.5)


@pytest.mark.parametrize(
    "rounds, most, spent, seconds, further",
    [(0, 60, 99, 1, True), (1, 60, 0.5, 1, True), (60, 60, 0.5, 1, False), (7, 60, 1.0, 1, False), (4, 60, 1.5, 1, True),
     (5, 60, 1.5, 1, False), (1, 60, 6.0, 1, False), (4, 60, 0.4, 0.01, True), (4, 60, 0.6, 0.01, False)],
)  # fmt: skip
def test_rounds_end(rounds, most, spent, seconds, further):
    assert race.goes_on(rounds, most, spent, seconds) is further


def test_wrong_results_have_no_time_and_broken_peers_say_so():
    zero = lambda n: lambda: np.zeros(2)
    wrong = race.race(work(zero, zero, truth=lambda n: np.ones(2)), 1, 0.0)
    assert "differs" in wrong.failed and wrong.ours_ms == 0
    broken = race.race(work(zero, lambda n: lambda: np.zeros(3), truth=lambda n: np.zeros(2)), 1, 0.0)
    assert not broken.failed and "shape" in broken.contests["P"].failed and broken.ours_ms > 0
    another = race.race(work(zero, lambda n: lambda: np.ones(2), truth=lambda n: np.zeros(2)), 1, 0.0)
    assert not another.contests["P"].peer_agrees and another.contests["P"].ratio > 0
    assert "ZeroDivisionError" in race.race(work(lambda n: 1 / 0, zero), 1, 0.0).failed


# ---- the parts


@pytest.mark.parametrize("part", list(new_calls.PARTS))
def test_no_two_workloads_of_a_part_have_one_name(part):
    names = [(w.group, w.name) for w in tiny(part)]
    assert len(set(names)) == len(names) > 20


@pytest.mark.parametrize("every", [120, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("part", list(CUT))
def test_every_workload_is_right(part, every):
    for w in tiny(part)[::every]:
        found = race.race(w, THREADS[part], 0.0)
        assert not found.failed and found.ours_ms > 0 and found.again_ms > 0, (w.group, w.name, found.failed)
        assert {name: c.failed for name, c in found.contests.items() if c.failed} == {}, (w.group, w.name)


@pytest.mark.parametrize("part", ["augment", "photographs"])
def test_a_missing_library_leaves_its_column_empty(part, monkeypatch):
    for of in (peers, photograph_peers, picture_peers):
        monkeypatch.setattr(of, "module", lambda name: None)
    left = {name for w in tiny(part) for name in w.peers}
    assert left <= {"PyTorch", "PyTorch, copied crop"}
    assert not race.race(tiny(part)[0], 1, 0.0).failed


def test_crops_lie_within_and_differ():
    rng = np.random.default_rng(3)
    drawn = [crops.crop(rng, 90, 120) for _ in range(200)]
    assert all(0 <= c.top < c.bottom <= 90 and 0 <= c.left < c.right <= 120 for c in drawn)
    assert len(set(drawn)) > 190 and 70 < sum(c.flip for c in drawn) < 130


def test_durations_are_those_of_speech():
    found = ragged.durations(10_000, "int32")(np.random.default_rng(0))
    assert found.dtype == np.int32 and found.min() == 0 and found.max() == 11 and 2.5 < found.mean() < 3.0


def test_lengths_change_and_the_ratio_does_not():
    rng = np.random.default_rng(0)
    for n, off in ((1000, 0.05), (10**6, 0)):
        for name, ratio in signals.RATIOS.items():
            drawn = [signals.work("g", "linear", name, (1, 1, n), False).draw(rng) for _ in range(60)]
            assert len(set(drawn)) > 50
            assert all(n_in <= n and abs(n_in * ratio - n_out) <= off * n for n_in, n_out in drawn)


def test_what_needs_too_much_memory_is_left_out():
    x = torch.zeros(1).expand(1, 1, 10**8)
    taken, left_out = signal_calls.peers(x, "linear", signals.RATIOS["2"], 2 * 10**8, False)
    assert not taken and set(left_out) == {"PyTorch", "np.interp"}
    assert all("left out" in why for why in left_out.values())


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_the_sums_that_signals_are_compared_with(kind):
    x = torch.randn(2, 3, 40, dtype=torch.float64, requires_grad=True)
    g = torch.randn(2, 3, 60, dtype=torch.float64)
    y = signal_calls.of_torch(kind)(x, 60)
    torch.testing.assert_close(signal_truth.summed(x.detach(), 60, kind), y)
    torch.testing.assert_close(signal_truth.summed_back(g, 40, kind), torch.autograd.grad(y, x, g)[0])


# ---- the page


def one(name: str, ratio: float, new: float = 1.0, output: int = FAR, group: str = "g", **more) -> Drawn:
    contests = {"PyTorch": Contest(ratio, pairs=9, ours_ms=2.0, peer_ms=2.0 * ratio)}
    return Drawn(group, name, 1, 1e3, 2.0, 2.0 / new, new, output, contests=contests, **more)


def test_losses_are_counted_by_library_and_by_whether_its_result_is_the_same():
    other = one("other", 0.1)
    other.contests["PyTorch"].peer_agrees = False
    calls = [one("won", 3.0), one("lost", 0.5), one("worse", 0.2), other, one("bad", 0.1, failed="x")]
    found = {"signals": (ABOUT, calls), "ragged": (ABOUT, [one("even", 0.96)])}
    assert list(summaries.rows(summaries.slower(new_report.met(found)))) == [
        ["Signals", "PyTorch †", "1 of 1", "g, other, 1 thread", "0.10x"],
        ["Signals", "PyTorch", "2 of 3", "g, worse, 1 thread", "0.20x"],
    ]
    why, failed = new_report.notes(found)
    assert why.startswith("- **PyTorch**: A new gradient") and failed == "- g, bad, 1 thread: x"
    assert list(new_report.notes({"signals": (ABOUT, calls[:1])})) == []
    slow, small = one("slow", 1, new=1.2), one("small", 1, new=9, output=100)
    assert new_report.first_calls("Signals", [slow, small]) == "- Signals: 0 of 1"


def test_a_median_that_is_not_sure_is_marked():
    assert new_report.cell(Contest(2, spread=0.5, pairs=200)) == "2.00x"
    assert new_report.cell(Contest(2, spread=0.5, pairs=7)) == "2.00x ~"
    assert [new_report.cell(c) for c in (None, Contest(failed="x"), Contest(failed="left out: 9"))] == [
        "-",
        "fails",
        "too large",
    ]


def test_a_slow_first_call_is_marked_where_the_result_is_large():
    assert new_report.cells(one("a", 2, new=1.2), ["PyTorch"]) == ["2", "1.20 **over**", "2.00x"]
    assert new_report.cells(one("a", 2, new=9, output=100), ["PyTorch"]) == ["2", "9.00", "2.00x"]
    assert new_report.cells(one("a", 1, failed="x"), ["PyTorch"]) == ["failed", "-", "-"]


def test_a_group_is_a_line_with_the_median_and_the_extremes():
    found = [one("a", 3.0), one("b", 0.5), one("c", 2.0), one("alone", 4.0, group="h"), one("bad", 9.0, failed="x")]
    assert new_report.by_group(found).splitlines()[2:] == [
        "| g | 3 | 1.00 | 2.00x (0.5 to 3) |",
        "| h | 1 | 1.00 | 4.00x |",
    ]


def test_each_call_is_printed_from_the_numbers(page, capsys):
    new_report.write(page, "ragged", ABOUT, [one("(4, 1)", 2.0), one("(4, 96)", 0.5)])
    new_report.write(page, "augment", ABOUT, [one("a", 3.0)])
    assert new_calls.main(argparse.Namespace(out=page, only="", quick=False, tables=True)) == 0
    text = capsys.readouterr().out
    assert "| a | 2 | 1.00 | 3.00x |" in text and "| 4 | 2.00x" in text


def test_a_record_is_a_line_of_the_file(page):
    found = [one(name, 1 / 3) for name in "abc"]
    new_report.write(page, "ragged", ABOUT, found)
    text = page.read_text()
    assert sum('"name"' in line for line in text.splitlines()) == 3 and "0.33333," in text
    assert json.loads(text)["ragged"]["machine"] == ABOUT


def test_grids_have_lengths_down_and_widths_across():
    heading, grid = new_report.grids([one("(4, 1)", 2.0), one("(4, 96)", 0.5)])
    assert heading == "#### g"
    assert grid.splitlines()[0] == "| rows | scalars | 96 wide |" and "| 4 | 2.00x (2e+03 us) | 0.50x" in grid


@pytest.fixture
def page(tmp_path) -> Path:
    (tmp_path / "x.md").write_text("before\n<!-- benchmark:begin -->\nold\n<!-- benchmark:end -->\nafter\n")
    return tmp_path / "x.json"


ABOUT = {"processor": "p", "cores": 2, "instruction_set": "v4", "copy_bandwidth_gb_per_s": 1,
         "transparent_huge_pages": "never", "versions": {}, "system": "s", "date": "d"}  # fmt: skip


def test_the_page_is_rendered_from_the_numbers_alone(page):
    points = [one(f"linear to 2, {n:,}", 2.0, group=signals.COST) for n in (1000, 3162)]
    new_report.write(page, "ragged", ABOUT, [one("(4, 1)", 2.0)])
    written = new_report.write(page, "signals", ABOUT, points)
    assert {p.name for p in written} == {"x.json", "x.md", "x-ratios.png", "x-signals.png"}
    assert all(p.stat().st_size > 0 for p in written)
    text = page.with_suffix(".md").read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text and "x-signals.png" in text
    assert list(map(race.drawn, json.loads(page.read_text())["signals"]["found"])) == points
    page.with_suffix(".md").write_text("<!-- benchmark:begin -->\n<!-- benchmark:end -->")
    new_report.render(page)
    assert page.with_suffix(".md").read_text() in text
    # A part that is measured again leaves the others as they are.
    new_report.write(page, "ragged", ABOUT, [one("(16, 1)", 2.0)])
    data = json.loads(page.read_text())
    assert len(data["signals"]["found"]) == 2 and data["ragged"]["found"][0]["name"] == "(16, 1)"


@pytest.mark.slow
def test_the_command(page, monkeypatch, capsys):
    monkeypatch.setattr(new_calls, "copy_bandwidth", lambda: 1e9)
    monkeypatch.setattr(new_calls, "child", new_calls.measure)  # in this process
    monkeypatch.setattr(new_calls, "set_threads", lambda n: None)
    said = ["x", "ragged", "--quick", "--seconds", "0", "--threads", "1", "--only", "(4, 16)", "--out", str(page)]
    monkeypatch.setattr(sys, "argv", said)
    assert command.main() == 0
    assert {f["name"] for f in json.loads(page.read_text())["ragged"]["found"]} == {"(4, 16)"}
    monkeypatch.setattr(sys, "argv", ["x", "ragged", "--render", "--out", str(page)])
    assert command.main() == 0
    monkeypatch.setattr(sys, "argv", ["x", "new", "--quick", "--threads", "1", "--only", "nothing has this"])
    assert command.main() == 2 and "nothing contains" in capsys.readouterr().err


@pytest.mark.slow
def test_each_number_of_threads_has_a_process():
    found, *_ = new_calls.child(new_calls.Chosen("ragged", 1, 4, 0.0, "int32 counts: (4, 16)"))
    assert found.threads == 1 and not found.failed
    assert asdict(found)["group"] == ragged.SPEECH["int32"]

"""The benchmark package on tiny inputs: its statistics, its checks, its report. Nothing here depends on time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from benchmarks import (
    curves,
    growth,
    huge_pages,
    image_rows,
    latency,
    memory,
    results,
    summaries,
    table,
    targets,
)
from benchmarks.check import compare
from benchmarks.machine import Settings
from benchmarks.measure import LEAST_PAIRS, MOST_PAIRS, alternate, fill, measure, timed
from benchmarks.results import BANDWIDTH, Contest, Direction, Footprint, Point, Result, Target
from benchmarks.rows import BACKWARD, FORWARD, rows
from benchmarks.workloads import CLOSE, EXACT, LEVELS, interleave, numpy, picture, resize, whole

SETTINGS = Settings(torch.get_num_threads(), 0.0, 1e9)
TINY = [
    interleave("each", (5, 3), 1, 2),
    interleave("counts", (6,), 0, None, torch.int8),
    whole("repeat", (2, 3), (2, 2)),
    whole("tile", (2, 3), (2, 2)),
    resize("bilinear", (1, 2, 4, 4), (7, 9), channels_last=True),
    resize("bilinear", (1, 2, 4, 4), (7, 9), torch.bfloat16),
    resize("trilinear", (1, 2, 3, 4, 5), (6, 7, 8), channels_last=True),
    resize("nearest", (1, 2, 4, 4), (7, 9)),
    resize("bicubic", (1, 2, 9, 9), (4, 4), antialias=True),
    picture(12, 10, 5, antialias=True, array=False),
    picture(12, 10, 20, antialias=False, array=True),
    numpy("repeat", "", (5,)),
    numpy("tile", "", (2, 3), reps=(2, 2)),
]


def contest(ratio: float, **more) -> Contest:
    return Contest(ratio, **more)


def result(name: str, forward: float, backward: float | None = None, *goals: Target, group: str = "Repeat") -> Result:
    ways = [None if r is None else Direction(1.0, contests={"PyTorch": contest(r)}) for r in (forward, backward)]
    return Result(group, name, ways[0], ways[1], list(goals))


# ---- measuring


def test_the_median_of_paired_ratios_and_its_spread():
    of = contest(0)
    fill(of, [(1.0, 2.0), (2.0, 2.0), (1.0, 4.0), (1.0, 3.0), (10.0, 30.0)])
    assert (of.ratio, of.pairs) == (3.0, 5)
    assert of.spread == pytest.approx((3.0 - 2.0) / 3.0)
    assert (of.ours_ms, of.peer_ms) == (1000.0, 3000.0)


def test_who_goes_first_alternates_and_pairs_are_bounded():
    called = []
    of = contest(0)
    ours = alternate(lambda: called.append("a"), lambda: called.append("b"), 0.0, of, 0.0, timed)
    assert len(ours) == of.pairs == LEAST_PAIRS
    assert "".join(called) == "abab" + "abba" * (LEAST_PAIRS // 2) + "ab" * (LEAST_PAIRS % 2)
    alternate(lambda: None, lambda: None, math.inf, of, 0.0, timed)
    assert of.pairs == MOST_PAIRS


def test_a_timing_of_many_calls_makes_them_all():
    called = []
    assert timed(lambda: called.append(1), 5) > 0 and len(called) == 5


@pytest.mark.parametrize(
    "got, want, check, right",
    [
        ([1, 2], [1, 2], EXACT, True),
        ([1, 2], [1, 3], EXACT, False),
        ([1, 2], [1, 3], LEVELS, True),
        ([1, 2], [1, 4], LEVELS, False),
        ([1.0, 100.0], [1.0005, 100.0], CLOSE, True),
        ([1.0, 100.0], [1.5, 100.0], CLOSE, False),
        ([1.0, -100.0], [1.0005, -100.0], CLOSE, True),
        ([], [], CLOSE, True),
        ([float("nan"), 1.0], [0.0, 1.0], CLOSE, False),
    ],
)
def test_checks(got, want, check, right):
    assert compare(np.array(got), np.array(want), check)[1] is right


def test_a_check_refuses_another_shape():
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(3), np.zeros((3, 1)), EXACT)


@pytest.mark.parametrize("row", TINY, ids=lambda row: row.name)
def test_every_kind_of_row_is_right_and_has_its_numbers(row):
    found = measure(row, 0.0, 1e9)
    x = row.make().x
    assert (found.backward is not None) == (isinstance(x, torch.Tensor) and x.is_floating_point())
    for way in (found.forward, found.backward):
        if way is not None:
            assert not way.failed and way.ours_ms > 0
            assert all(c.ratio > 0 and c.pairs >= LEAST_PAIRS and not c.failed for c in way.contests.values())


@pytest.mark.parametrize("dtype", image_rows.DTYPES)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest", "area"])
def test_images_of_every_dtype_are_right(mode, dtype):
    for channels in (1, 3):
        row = image_rows.image("x", "", mode, (8, 12, channels), (4, 24), dtype, lambda x: x)
        found = measure(row, 0.0, 1e9).forward
        assert not found.failed and "shape" in found.contests["x"].failed  # the peer gave the input back


def test_a_wrong_row_has_no_time_and_a_broken_peer_says_so():
    row = whole("repeat", (2, 3), (2, 2))
    case = row.make()
    wrong = measure(row._replace(make=lambda: case._replace(ours=lambda x: case.ours(x) + 1)), 0.0, 1e9)
    assert "differs" in wrong.forward.failed and wrong.forward.ours_ms == 0 and wrong.backward is None

    broken = measure(row._replace(make=lambda: case._replace(peers={"P": lambda x: x})), 0.0, 1e9).forward
    assert "shape" in broken.contests["P"].failed and table.cell(broken.contests["P"]) == "fails"
    another = measure(row._replace(make=lambda: case._replace(peers={"P": lambda x: case.ours(x) * 2})), 0.0, 1e9)
    assert "†" in table.cell(another.forward.contests["P"])
    missing = measure(row._replace(make=lambda: case._replace(x=None)), 0.0, 1e9)
    assert "Error" in missing.forward.failed


# ---- the tables


def test_rows_have_names_and_targets():
    found = list(rows())
    names = [(r.group, r.name) for r in found]
    assert len(set(names)) == len(names)
    assert all(r.targets for r in found if r.group in (*huge_pages.GROUPS, "NumPy"))
    for r in found:
        for t in r.targets:
            integers = any(kind in r.name for kind in (", int", ", uint")) or r.group == "NumPy"
            assert (t.backward is None) == integers, r.name
            usual = t.forward >= FORWARD and (t.backward is None or t.backward >= BACKWARD)
            assert usual == (not t.why), r.name


def test_targets_that_are_missed_say_short():
    usual, less = Target(BANDWIDTH, 0.75, 0.6), Target(BANDWIDTH, 0.5, 0.6, "why")
    found = [result("fast", 8.0, 3.0, usual), result("slow", 8.0, 2.9, less)]
    for r, backward in zip(found, (0.6, 0.59)):
        r.forward.of_bandwidth, r.backward.of_bandwidth = 0.75, backward
    text = targets.table([*found, result("free", 1.0)])
    assert "free" not in text and "| fast | 75% | 75% | 60% | 60% | - |" in text
    assert "| slow | 50% | 75% | 60% | 59% **short** | why |" in text
    assert targets.by_group(found).splitlines()[2:] == [f"| {found[0].group} | 3 of 4 | 98% | slow |"]
    found[0].forward = Direction(failed="wrong")
    assert "| fast | 75% | failed **short** | 60% | 60% | - |" in targets.table(found)


def test_noise_is_marked():
    assert table.cell(contest(2, spread=0.31)) == "2.00x ~" and table.cell(contest(2, spread=0.3)) == "2.00x"
    assert table.cell(contest(2, spread=0.31, peer_agrees=False)) == "2.00x ~ †" and table.cell(None) == "-"


def test_grids_have_a_line_per_call():
    found = [
        Result("OpenCV", f"linear, uint8, {c}", Direction(contests={"OpenCV": contest(r)}))
        for c, r in (("1 channel", 1.0), ("3 channels", 2.0))
    ]
    assert table.grid(found).splitlines()[0] == "| Call | 1 channel | 3 channels |"
    assert table.grid(found).splitlines()[2] == "| linear, uint8 | 1.00x | 2.00x |"


def test_the_second_processs_contests_join_the_rows():
    mine, theirs = [result("a", 4.0, 3.0), result("b", 2.0)], [result("a", 1.5, 1.2), result("b", 1.1)]
    theirs[1].forward = Direction(failed="differs by 3")
    huge_pages.merge(mine, theirs)
    assert list(mine[0].forward.contests) == ["PyTorch", huge_pages.NAME]
    assert mine[0].forward.contests[huge_pages.NAME].ratio == 1.5
    assert mine[0].backward.contests[huge_pages.NAME].ratio == 1.2
    assert mine[1].forward.contests[huge_pages.NAME].failed == "differs by 3"


def test_what_the_second_process_prints(monkeypatch, capsys):
    monkeypatch.setattr(huge_pages, "rows", lambda: [TINY[2], TINY[10], TINY[11]])
    huge_pages.main(SETTINGS)
    (line,) = capsys.readouterr().out.splitlines()  # the one row that PyTorch takes part in
    assert list(results.result(json.loads(line)).forward.contests) == ["PyTorch"]


# ---- curves


def test_points_that_need_too_much_memory_or_break_do_not_end_the_run():
    def make():
        raise ValueError("no")

    works = [
        curves.Workload("p", "a", 1, TINY[2].make, 48),
        curves.Workload("p", "b", 2, make, 48),
        curves.Workload("p", "c", 3, make, 2**60),
    ]
    good, broken, large = curves.run(works, SETTINGS)
    assert good.forward.contests["PyTorch"].ratio > 0
    assert broken.forward.failed == "ValueError: no" and "left out" in large.forward.failed
    assert len(curves.failures([good, broken, large])) == 2


def test_sizes_and_shapes():
    assert [curves.size(4.0**k) for k in (0, 5, 6, 10, 15)] == ["1 B", "1 KiB", "4 KiB", "1 MiB", "1 GiB"]
    assert growth.split(18, 4) == (32, 32, 16, 16)
    assert all(math.prod(growth.split(18, d)) == 2**18 for d in range(1, 7))
    largest = [w for w in growth.workloads() if w.panel == growth.ELEMENTS and w.at == growth.LARGEST]
    assert len(largest) == 4
    ats = [w.at for w in latency.workloads()]
    assert min(ats) <= 4 and max(ats) == 2**20


def test_losses_are_listed():
    points = [Point("op", "tenter", 4.0**k, Direction(1.0, contests={"NumPy": contest(r)}))
              for k, r in enumerate((0.5, 0.94, 0.96, 3.0))]  # fmt: skip
    text = summaries.slower(latency.met(points))
    assert "| op, small sizes | NumPy | 2 of 4 | input of 1 B | 0.50x |" in text
    assert summaries.NONE in summaries.slower(latency.met(points[2:]))


def test_a_library_has_a_line_for_each_group():
    r = Result("g", "row", Direction(contests={"NumPy": contest(2), "SciPy": contest(0, failed="no")}), None)
    other = Result("g", "other", Direction(contests={"NumPy": contest(4)}), Direction(contests={"NumPy": contest(0.5)}))
    rows = summaries.by_library([r, other]).splitlines()[2:]
    assert rows == ["| g | NumPy | 3 | 3.00x (2 to 4) | 0.50x |", "| g | SciPy | 1 | - | - |"]
    assert list(summaries.met([other]))[1] == summaries.Met("g, gradient", "other", "NumPy", 0.5)


def test_pages_are_read_as_they_were_written():
    page = summaries.slower([summaries.Met("kind", "call", "NumPy", 0.5)])
    assert list(summaries.rows(page)) == [["kind", "NumPy", "1 of 1", "call", "0.50x"]]
    assert list(summaries.rows(summaries.slower([]))) == []


# ---- memory


def test_rows_of_memory_are_right_where_they_are_small():
    for name, row in memory.rows(32).items():
        case = row.make()
        x = case.x.double() if case.check == CLOSE else case.x
        assert compare(case.ours(case.x), case.truth(x), case.check)[1], name


@pytest.mark.skipif(not memory.RESET.exists(), reason="Linux only")
@pytest.mark.parametrize("library", memory.LIBRARIES)
def test_peak_memory_of_one_call(library, monkeypatch, capsys):
    rows_of = memory.rows
    monkeypatch.setattr(memory, "rows", lambda cut: rows_of(16))
    memory.main("repeat by (4, 4), uint8", library, torch.get_num_threads())
    output, extra = json.loads(capsys.readouterr().out)
    assert output == 16 * 256 * 1024 and extra < 2**24


def test_memory_is_shown_beside_the_result():
    shown = memory.markdown([Footprint("a", 2**21, {"tenter": 2**20, "PyTorch": 2**24}), Footprint("b", failed="no")])
    assert "| a | 2.0 | output + 1.0 | output + 16.0 |" in shown[1] and "| b | failed (no) | - | - |" in shown[1]

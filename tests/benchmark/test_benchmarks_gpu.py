"""The GPU's benchmark without a GPU: its rows at small sizes on the CPU by the same code, its page, its refusal."""

from __future__ import annotations

import functools
import math
import sys

import pytest
import torch
from benchmarks import __main__ as command, calls, gpu, gpu_measure, gpu_model_rows, gpu_report
from benchmarks.calls import Cost
from benchmarks.gpu_rows import DETERMINISTIC, PYTORCH, counted, on_host, photograph, rows
from benchmarks.machine import Settings
from benchmarks.measure import has_backward, touched
from benchmarks.results import BANDWIDTH, Contest, Direction, Result, Target
from benchmarks.workloads import resize

from roots import ROOT

CUT = 32
SMALL = list(rows("cpu", CUT))
ABOUT = {
    "device": "A device", "driver": "1.2", "cuda": "13", "copy_bandwidth_gb_per_s": 4000.5, "versions": {"torch": "2"},
    "system": "Linux", "date": "1999-01-01",
}  # fmt: skip
AIMS = [Target(BANDWIDTH, 0.85, 0.7), Target(PYTORCH, 7.0, 1.0), Target(DETERMINISTIC, None, 10.0)]
NO_DETERMINISTIC = Contest(failed="RuntimeError: x_backward does not have a deterministic implementation, but")


def direction(share: float = 0.9, **ratios: float) -> Direction:
    return Direction(0.25, of_bandwidth=share, contests={PYTORCH: Contest(ratios.get("ratio", 2.0), peer_ms=0.5)})


def lines(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


@pytest.fixture
def first() -> Result:
    """The first row of the page, with figures."""
    row = next(rows("meta"))
    return Result(row.group, row.name, direction(), direction(), AIMS, 10**9)


UNMEASURED = functools.cache(gpu_measure.unmeasured)


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    """Where all rows are made once, which takes a second or two."""
    monkeypatch.chdir(ROOT)
    for module in (gpu_measure, gpu_report):
        monkeypatch.setattr(module, "unmeasured", UNMEASURED)


# ---- rows


@pytest.mark.slow
@pytest.mark.parametrize("row", SMALL, ids=lambda row: f"{row.group}: {row.name}")
def test_every_row_is_right_and_has_its_figures(row):
    found = gpu_measure.measure(row, "cpu", 0.0, 1e9, block=0.0)
    assert (found.backward is not None) == has_backward(row.make())
    peers = set(row.make().peers)
    assert set(found.forward.contests) == peers
    assert found.backward is None or set(found.backward.contests) == (peers and {*peers, DETERMINISTIC})
    for way in (found.forward, found.backward):
        if way is not None:
            assert not way.failed and way.ours_ms > 0 and way.of_bandwidth > 0
            assert all(
                c.ratio > 0 and c.pairs >= gpu_measure.DETERMINISTIC_PAIRS and not c.failed
                for c in way.contests.values()
            )
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_wrong_result_is_wrong_and_ends_in_a_nonzero_status(first):
    row = SMALL[0]
    case = row.make()
    wrong = row._replace(make=lambda: case._replace(ours=lambda x: case.ours(x) + 1))
    found = gpu_measure.measure(wrong, "cpu", 0.0, 1e9, block=0.0)
    assert "differs" in found.forward.failed and "**wrong**" in gpu_report.table([found], False)
    assert gpu.failed(gpu_report.Record({}, [found], {}))
    assert not gpu.failed(gpu_report.Record({}, [first], {"x": (Cost(1, 1, 1),) * 2}))
    assert gpu.failed(gpu_report.Record({}, [], {"x": "AssertionError: no"}))


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * (2 if torch.are_deterministic_algorithms_enabled() else 1)


def test_another_gradient_in_deterministic_mode_fails_and_a_refusal_is_the_peers():
    row = SMALL[0]
    case = row.make()
    other = row._replace(make=lambda: case._replace(ours=lambda x: case.ours(Twice.apply(x))))
    assert "deterministic mode" in gpu_measure.measure(other, "cpu", 0.0, 1e9, block=0.0).forward.failed

    class Refuses(Twice):
        @staticmethod
        def backward(ctx, g):
            if torch.are_deterministic_algorithms_enabled():
                raise RuntimeError(NO_DETERMINISTIC.failed)
            return g

    peer = {PYTORCH: lambda x: case.peers[PYTORCH](Refuses.apply(x))}
    found = gpu_measure.measure(row._replace(make=lambda: case._replace(peers=peer)), "cpu", 0.0, 1e9, block=0.0)
    assert not found.forward.failed and not found.backward.failed and found.backward.contests[PYTORCH].ratio > 0
    contest = found.backward.contests[DETERMINISTIC]
    assert gpu_report.refused(contest) and not torch.are_deterministic_algorithms_enabled()


def test_a_peer_that_refuses_a_call_is_no_failure_of_ours():
    """PyTorch's CUDA kernels refuse the antialiasing of large factors, and so the gradient's forward."""
    row, refused = SMALL[0], "Too much shared memory required: 99588 vs 49152"

    def refuses(x):
        raise RuntimeError(refused)

    found = gpu_measure.measure(
        row._replace(make=lambda: row.make()._replace(peers={PYTORCH: refuses})), "cpu", 0.0, 1e9, block=0.0
    )
    for way in (found.forward, found.backward):
        assert not way.failed and way.ours_ms > 0 and refused in way.contests[PYTORCH].failed
    assert "| refused |" in gpu_report.table([found], True)


def test_bytes_are_each_input_and_the_result_once():
    def moved(row):
        case = row.make()
        return touched(case, case.truth(case.x))

    counts = counted((9,), 0, "cpu").make().beside
    total = int(counts.sum())
    assert moved(counted((9,), 0, "cpu")) == 4 * 9 + 8 * 9 + 4 * total
    assert moved(counted((9, 5), 0, "cpu", torch.int8, host="list")) == 5 * (9 + total)
    assert moved(counted((9, 5), 0, "cpu", torch.bfloat16, host="array")) == 2 * 5 * (9 + total)
    assert moved(counted((3, 9), 1, "cpu", sized=True)) == 4 * 3 * (9 + total) + 8 * 9
    assert moved(resize("bilinear", (1, 2, 4, 6), (8, 12), torch.float16)) == 2 * 2 * (24 + 96)
    assert moved(on_host(resize("bilinear", (1, 2, 8, 8), (2, 2), antialias=True))) == 4 * 2 * (64 + 4)
    assert moved(photograph((2, 6, 8, 3), 4, True, "cpu")) == 2 * 3 * (48 + 16)
    measured = gpu_measure.measure(counted((9,), 0, "cpu"), "cpu", 0.0, 1e9, block=0.0)
    assert measured.moved == 4 * 9 + 8 * 9 + 4 * total
    seconds = measured.backward.ours_ms * 1e-3
    assert measured.backward.of_bandwidth == pytest.approx(measured.moved / seconds / 1e9)


def test_bytes_on_the_page_are_those_of_the_rows():
    found = gpu_measure.unmeasured(CUT)
    assert [(r.group, r.name) for r in found] == [(r.group, r.name) for r in SMALL]
    for r, row in zip(found, SMALL):
        case = row.make()
        assert r.moved == touched(case, case.ours(case.x)), r.name
        assert (r.backward is not None) == has_backward(case)


@pytest.mark.slow
def test_rows_are_large_and_each_named_once():
    found = gpu_measure.unmeasured()
    assert len({(r.group, r.name) for r in found}) == len(found)
    found = [r for r in found if r.group != gpu_model_rows.GROUP]
    small = [r.name for r in found if not 256e6 <= r.moved <= 4e9]
    assert small == [
        f"{mode} (1, 192, 240, 416) to (480, 832), bfloat16, channels-last" for mode in ("nearest", "nearest-exact")
    ]
    for r in found:
        aims = {t.peer: t for t in r.targets}
        assert (aims[BANDWIDTH].forward, aims[BANDWIDTH].backward) == (0.85, 0.7)
        nearest = r.name.startswith("nearest") and "channels-last" in r.name
        assert (aims[PYTORCH].forward, aims[PYTORCH].backward) == (7.0 if nearest else 1.0, 1.0)
        slow = r.name.startswith(("bilinear", "trilinear")) and "uint8" not in r.name
        assert r.backward is None or aims[DETERMINISTIC].backward == (10.0 if slow else 1.0), r.name


def test_bytes_go_through_float32_where_they_are_refused(monkeypatch):
    from benchmarks import gpu_rows

    row = photograph((1, 6, 8, 3), 4, True, "cpu")
    case = row.make()
    assert torch.equal(case.peers[PYTORCH](case.x), gpu_rows.F.interpolate(
        case.x.permute(0, 3, 1, 2), (4, 4), mode="bilinear", antialias=True).permute(0, 2, 3, 1))  # fmt: skip
    plain = gpu_rows.F.interpolate

    def refuses_bytes(x, **options):
        if x.dtype == torch.uint8:
            raise NotImplementedError("not implemented for 'Byte'")
        return plain(x, **options)

    monkeypatch.setattr(gpu_rows.F, "interpolate", refuses_bytes)
    peer = row.make().peers[PYTORCH]
    assert peer(case.x).dtype == torch.uint8 and (peer(case.x).int() - case.ours(case.x).int()).abs().max() <= 1


# ---- the page


def test_the_table_of_made_up_measurements():
    backward = direction(0.6, ratio=1.5)
    backward.contests[DETERMINISTIC] = Contest(9.0, peer_ms=2.25)
    r = Result("g", "row", direction(), backward, AIMS, 1_234_000_000)
    assert lines(gpu_report.table([r], False))[2] == [
        "row", "1234", "0.250", "90%", "85%", "0.500", "2.00x **short**", "7x"
    ]  # fmt: skip
    assert lines(gpu_report.table([r], True))[2] == [
        "row", "1234", "0.250", "60% **short**", "70%", "0.500", "1.50x", "1x", "2.250", "9.00x **short**", "10x"
    ]  # fmt: skip
    head = lines(gpu_report.table([r], True))[0]
    assert head[5:] == ["PyTorch, ms", "times faster", "target", "PyTorch, deterministic, ms", "times faster", "target"]
    assert gpu_report.tally([r]).startswith("2 of 5 ")
    backward.contests[DETERMINISTIC] = NO_DETERMINISTIC
    assert lines(gpu_report.table([r], True))[2][8:] == ["refused", "-", "10x"]
    assert gpu_report.tally([r]).startswith("2 of 4 ")


@pytest.mark.parametrize(
    "failed, shown",
    [
        ("RuntimeError: Too much shared memory required: 200000 vs 49152", "refused"),
        ("OutOfMemoryError: CUDA out of memory.", "fails"),
    ],
)
def test_a_peer_that_fails(failed, shown):
    r = Result("g", "row", Direction(0.25, of_bandwidth=0.9, contests={PYTORCH: Contest(failed=failed)}), None, AIMS)
    assert lines(gpu_report.table([r], False))[2][5:] == [shown, "-", "7x"]
    said = [] if shown == "refused" else [f"- row: PyTorch: {failed}"]
    assert gpu_report.notes([r], gpu_report.Record({}, [r], {})) == said


@pytest.mark.slow
def test_rows_that_were_not_measured_say_so():
    r = Result("g", "row", Direction(), Direction(), AIMS, 10**9)
    not_yet = gpu_report.UNMEASURED
    assert lines(gpu_report.table([r], False))[2] == ["row", "1000", not_yet, not_yet, "85%", not_yet, not_yet, "7x"]
    assert lines(gpu_report.table([r], True))[2].count(not_yet) == 6
    text = gpu_report.every_call(gpu_report.Record({}, [], {}))
    found = gpu_measure.unmeasured()
    assert all(f"| {r.name} |" in text for r in found)
    backward = sum(r.backward is not None for r in found)
    assert text.count(not_yet) == 4 * len(found) + 6 * backward
    assert "\n".join(gpu_report.markdown(gpu_report.Record({}, [], {}))).count(not_yet) == 6 * len(calls.cases()) + 1


def test_the_compiler_has_columns_where_it_was_a_peer():
    r = Result("g", "row", Direction(), Direction(), AIMS, 10**9)
    assert gpu_report.COMPILED not in gpu_report.table([r], True)
    r.forward.contests = {PYTORCH: Contest(1.5, 3, 0.1, 2, 3), gpu_report.COMPILED: Contest(2.5, 5, 0.1, 2, 5)}
    for backward in (False, True):
        head = lines(gpu_report.table([r], backward))[0]
        assert (
            head[5:9:3] == ["PyTorch, ms", "PyTorch, compiled, ms"]
            and ("PyTorch, deterministic, ms" in head) == backward
        )


@pytest.mark.slow
def test_the_compiler_is_a_peer():
    row = gpu.with_compiled(SMALL[0])
    found = gpu_measure.measure(row, "cpu", 0.0, 1e9, block=0.0)
    for way in (found.forward, found.backward):
        assert not way.failed and way.contests[gpu_report.COMPILED].ratio > 0


def test_small_calls():
    assert gpu_report.small_line("`f`", (Cost(3, 2, 0.67), Cost(3.2, 2, 0.62))) == (
        "| `f` | 3.0 us | 2.0 us | 0.67x | 3.2 us | 2.0 us | 0.62x **short** |"
    )
    assert gpu_report.small_line("`f`", "AssertionError: no").count("**failed**") == 6


def test_a_small_call_is_waited_for_within_its_time(monkeypatch):
    done = []
    monkeypatch.setattr(calls.time, "perf_counter", lambda: done.append("clock") or len(done))
    calls.per_call(lambda: done.append("call"), 2, lambda: done.append("wait"))
    assert done == ["wait", "clock", "call", "call", "wait", "clock"]


# ---- the command


def test_a_run_is_written_and_read_back(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu, "rows", lambda *_: SMALL[:3])
    monkeypatch.setattr(gpu_report, "unmeasured", lambda: gpu_measure.unmeasured(CUT))
    monkeypatch.setattr(calls, "ROUNDS", 1)
    record = gpu.run("cpu", Settings(1, 0.0, 1e9), ABOUT, math.inf, CUT, 0.0, 1)
    assert len(record.table) == 3 and set(record.small) == {case.name for case in calls.cases()}
    chosen = command.parser().parse_args(["gpu", "--out", str(tmp_path / "new")])
    assert gpu.end(record, chosen, 3) == 0
    again = gpu_report.read(tmp_path / "new" / gpu_report.RECORD)
    assert [gpu_report.named(r) for r in again.table] == [gpu_report.named(r) for r in record.table]
    assert again.table[0].forward.ours_ms == pytest.approx(record.table[0].forward.ours_ms, rel=1e-4)
    gpu_report.write(tmp_path / "again", again)  # what was read is written as it was
    assert gpu_report.read(tmp_path / "again" / gpu_report.RECORD) == again
    page = (tmp_path / "new" / gpu_report.PAGE).read_text()
    assert "A device, driver 1.2, CUDA 13, copy bandwidth 4000.5 GB/s; torch 2; Linux; 1999-01-01." in page
    every = gpu_report.every_call(again).splitlines()
    measured = [line for line in every if line.startswith("| ") and "not measured yet" not in line]
    assert all(sum(line.startswith(f"| {r.name} |") for line in measured) == 2 for r in record.table)
    assert gpu.end(record, chosen, 4) == 1 and "rows left out, as --minutes were over: 1" in capsys.readouterr().err


def test_rows_that_a_run_left_out_are_those_of_the_run_before_it_on_the_same_device(first):
    other = Result("g", "other", direction(0.5), None, AIMS)
    before = gpu_report.Record(ABOUT, [first, other], {"`f`": (Cost(1, 1, 1),) * 2}, {"g: other": "1990-01-01"})
    again = Result(first.group, first.name, direction(0.7), None, AIMS)
    kept = gpu_report.complete(gpu_report.Record(ABOUT, [again], {}), before)
    assert kept == gpu_report.Record(ABOUT, [again, other], {}, {"g: other": "1990-01-01"})
    kept = gpu_report.complete(gpu_report.Record(ABOUT, [other], {}), before._replace(earlier={}))
    assert kept.table == [other, first] and kept.earlier == {gpu_report.named(first): "1999-01-01"}
    text = "\n\n".join(gpu_report.markdown(kept))
    assert "an earlier run on the same device (1999-01-01)" in text
    assert f"| {first.name} ° |" in gpu_report.every_call(kept)
    assert gpu_report.every_call(kept).startswith("0 of 0 targets")  # none of an earlier run
    for key in ("device", "versions"):
        another = gpu_report.Record({**ABOUT, key: "another"}, [other], {})
        assert gpu_report.complete(another, before) == another


def test_rows_of_the_same_commit_are_measured_once_and_are_of_one_run(first, monkeypatch):
    about = {**ABOUT, "commit": "abc"}
    other = Result("g", "other", direction(), None, AIMS)
    before = gpu_report.Record(about, [first, other], {}, {"g: other": "1990-01-01"})
    after = gpu_report.complete(gpu_report.Record({**about, "date": "1999-01-02"}, [], {}), before)
    assert after.table == [first, other] and after.earlier == {"g: other": "1990-01-01"}
    assert not gpu_report.is_of_one_run(ABOUT, ABOUT) and not gpu_report.is_of_one_run(about, {**about, "driver": "9"})
    monkeypatch.setattr(gpu, "rows", lambda *_: SMALL[:3])
    monkeypatch.setattr(calls, "cases", lambda *_: [])
    done = {f"{row.group}: {row.name}" for row in SMALL[1:3]}
    found = gpu.run("cpu", Settings(1, 0.0, 1e9), about, math.inf, CUT, 0.0, 1, done=done)
    assert [r.name for r in found.table] == [SMALL[0].name]


def test_rows_past_the_time_are_left_out_and_only_narrows(monkeypatch):
    monkeypatch.setattr(calls, "ROUNDS", 1)
    late = gpu.run("cpu", Settings(1, 0.0, 1e9, "tile"), ABOUT, -math.inf, CUT, 0.0, 1)
    assert not late.table and list(late.small) == ["`tile(x, (2, 2))`"]
    found = gpu.run("cpu", Settings(1, 0.0, 1e9, "Repeat: tile"), ABOUT, math.inf, CUT, 0.0, 1)
    assert [r.name for r in found.table] == ["tile (256, 128) by (4, 4), float32"] and not found.small


def test_without_a_device_it_says_so_and_leaves_what_is_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(gpu_report, "write", None)
    for options in ([], ["--quick"], ["--out", str(tmp_path / "out")]):
        monkeypatch.setattr(sys, "argv", ["benchmarks", "gpu", *options])
        assert command.main() != 0
        said = capsys.readouterr()
        assert said.err.count("\n") == 1 and "no CUDA device" in said.err and not said.out
    assert not (tmp_path / "out").exists()

"""`python -m benchmarks random` at small sizes: what it draws, prints and refuses. Nothing here is timed."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
import torch
from benchmarks import __main__ as command, random_calls, random_report, summaries
from benchmarks.measure import LEAST_PAIRS
from benchmarks.random_calls import NAMES
from benchmarks.random_report import BEGIN, END, ITSELF, Drawn, Timed
from benchmarks.results import Contest


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in (("MOST_BYTES", 3000), ("SECONDS", 0.0), ("BLOCK", 0.0), ("LEAST", 1), ("MOST", 1)):
        monkeypatch.setattr(random_calls, name, value)


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["benchmarks", "random", *arguments])
    monkeypatch.setattr(random_report, "write", lambda *_: pytest.fail("a page is written"))
    threads = torch.get_num_threads()
    status = command.main()
    assert torch.get_num_threads() == threads
    return status, capsys.readouterr().out


def test_every_function_is_drawn_and_gives_what_its_peer_gives():
    seen = set()
    for number in range(500):
        call = random_calls.draw(1, number)
        if random_calls.refused(call):
            continue
        seen.add(call.function)
        results = (f() for f in random_calls.bound(call))
        ours, theirs = (torch.as_tensor(y.copy() if isinstance(y, np.ndarray) else y) for y in results)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, call
        if not any(mode in call.function for mode in random_calls.SPATIAL) and "gradient" not in call.function:
            assert torch.equal(ours, theirs), call
    modes = {*random_calls.SPATIAL, "bilinear, antialiased", "bicubic, antialiased"}
    copies = {"repeat_interleave by an int", "repeat_interleave by counts", "repeat", "tile", "expand"}
    assert seen == {*modes, *copies, "numpy.repeat", "numpy.tile"} | {f"gradient of {f}" for f in modes | copies}


def test_a_seed_draws_the_same_calls_again_and_another_seed_others():
    first, again, others = ([random_calls.draw(seed, k) for k in range(20)] for seed in (5, 5, 6))
    assert first == again != others


def test_what_is_printed_runs_again(monkeypatch, capsys):
    for module in (random_calls, random_report):
        monkeypatch.setattr(module, "LOSS", np.inf)  # all calls are slower, and timed once more
    threads = ("--threads", "1", "--threads", "2")
    status, said = run(monkeypatch, capsys, "--calls", "40", "--slowest", "1", *threads, "--print")
    shares, table, *printed = said.split("\n\n")
    numbers = [line.split(" | ")[1:4] for line in shares.splitlines() if line.startswith("| all |")]
    assert status == 0 and [n for n, *_ in numbers] == ["1", "2"] and sum(int(made) for _, made, _ in numbers) == 40
    assert all(made == slower for _, made, slower in numbers)
    rows = [line for line in table.splitlines()[2:] if ITSELF not in line]
    assert len(printed) == len({row.split("|")[1] for row in rows}) > 5  # one of each function and peer
    ratios = [float(source.removeprefix("# ").split("x, ")[0]) for source in printed]
    assert ratios == sorted(ratios)
    for source in printed:
        exec(source, dict(NAMES))


def test_calls_on_each_number_of_threads_are_timed_against_themselves(monkeypatch):
    monkeypatch.setattr(random_calls, "draw", lambda seed, number: Drawn("f", "NumPy", "x = np.zeros(3)", "x", "x"))
    chosen = argparse.Namespace(calls=16, minutes=None, seed=1, threads=[1, 2], only="")
    found = list(random_calls.timed_calls(chosen))
    assert {one.threads for one in found if one.drawn.function == ITSELF} == {1, 2}


def test_only_some_functions_are_called(monkeypatch, capsys):
    status, said = run(monkeypatch, capsys, "--calls", "6", "--only", "gradient of nearest")
    rows = said.split("\n\n")[1].splitlines()[2:]
    assert status == 0 and rows and all("gradient of nearest" in row or ITSELF in row for row in rows)


def test_a_name_that_no_call_has_is_refused_at_the_end_of_the_time(monkeypatch, capsys):
    assert run(monkeypatch, capsys, "--minutes", "0.002", "--only", "nothing")[0] == 2


def test_a_result_of_another_shape_fails_the_run(monkeypatch, capsys):
    bad = Drawn("bad", "NumPy", "x = np.zeros(3)", "x[1:]", "x")
    good = bad._replace(ours="x")
    monkeypatch.setattr(random_calls, "draw", lambda seed, number: bad if number == 1 else good)
    status, said = run(monkeypatch, capsys, "--calls", "3", "--print")
    assert status == 1 and "ValueError: float64(2,), not float64(3,)" in said


def test_a_call_that_the_peer_refuses_is_left_out():
    assert random_calls.refused(Drawn("f", "NumPy", "x = np.zeros(3)", "x", "np.repeat(x, -1)"))
    assert not random_calls.refused(Drawn("f", "NumPy", "x = np.zeros(3)\ny = wrong", "y", "x"))


def test_a_call_that_seems_slower_is_timed_once_more(monkeypatch):
    pairs = iter(([(2.0, 1.0)] * LEAST_PAIRS, [(1.0, 1.5)] * LEAST_PAIRS))
    monkeypatch.setattr(random_calls, "in_turns", lambda *args, **names: next(pairs))
    assert random_calls.contest(lambda: None, lambda: None).ratio == 1.5


def test_the_table_counts_what_is_slower():
    call = Drawn("f", "NumPy", "", "", "")
    rows = random_report.table([Timed(call, 1, Contest(ratio=r)) for r in (0.5, 0.94, 0.96, 2.0)]).splitlines()
    assert rows[2] == "| f / NumPy | 4 | 2 | 0.50x | 0.95x |"


def test_shares_count_each_call_once_and_itself_apart():
    names = ("tile", "tile", "expand", "gradient of tile", "gradient of expand", ITSELF)
    calls = [
        Timed(Drawn(name, "NumPy", "", "", ""), 2, Contest(ratio=r)) for name, r in zip(names, (1, 0.5, 0.7, 2, 0.1, 3))
    ]
    assert [line.strip("| ").split(" | ") for line in random_report.shares(calls).splitlines()[2:]] == [
        ["all", "2", "5", "3", "40.0%", "0.70x"],
        ["without `expand`", "2", "3", "1", "66.7%", "1.00x"],
        ["without gradients", "2", "3", "2", "33.3%", "0.70x"],
        ["without gradients and `expand`", "2", "2", "1", "50.0%", "0.75x"],
        [ITSELF, "2", "1", "0", "100.0%", "3.00x"],
    ]


def test_the_command_writes_its_page_and_the_file_of_functions(tmp_path, monkeypatch):
    page = tmp_path / "random.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\nafter\n")
    monkeypatch.setattr(random_report, "PAGE", page)
    for module in (random_calls, random_report):
        monkeypatch.setattr(module, "LOSS", np.inf)
    monkeypatch.setattr("sys.argv", ["benchmarks", "random", "--calls", "12", "--seed", "3"])
    assert command.main() == 0
    text = page.read_text()
    assert text.startswith(f"before\n\n{BEGIN}\n") and text.endswith(f"{END}\nafter\n") and "old" not in text
    assert "`python -m benchmarks random --calls 12 --seed 3 --threads 1` made 12 calls." in text
    assert ITSELF in text and "[Each function](random.csv)" in text and summaries.BEGIN in text
    first, *functions = page.with_suffix(".csv").read_text().splitlines()
    assert first == "call / peer,calls,slower,least,median" and len(functions) > 3
    assert len(random_report.medians(page)) == 1

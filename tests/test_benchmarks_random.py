"""`python -m benchmarks random` at small sizes: what it draws, prints and refuses. Nothing here is timed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from benchmarks import __main__ as command, random_calls
from benchmarks.measure import LEAST_PAIRS
from benchmarks.random_calls import ITSELF, NAMES, Drawn, Timed
from benchmarks.results import Contest


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in (("MOST_BYTES", 3000), ("SECONDS", 0.0), ("BLOCK", 0.0), ("LEAST", 1), ("MOST", 1)):
        monkeypatch.setattr(random_calls, name, value)


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["benchmarks", "random", *arguments])
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
    monkeypatch.setattr(random_calls, "LOSS", np.inf)  # all calls are slower
    status, said = run(monkeypatch, capsys, "--calls", "40", "--slowest", "1", "--threads", "1", "--threads", "2")
    assert status == 0 and "| all calls |  | 40 | 40 |" in said and f"| {ITSELF} |" in said
    printed = said.split("\n\n")[1:]
    rows = [line for line in said.split("\n\n")[0].splitlines()[2:-1] if ITSELF not in line]
    assert len(printed) == len({row.split("|")[1] for row in rows}) > 5  # one of each function and peer
    ratios = [float(source.removeprefix("# ").split(":")[0]) for source in printed]
    assert ratios == sorted(ratios)
    for source in printed:
        exec(source, dict(NAMES))


def test_only_some_functions_are_called(monkeypatch, capsys):
    status, said = run(monkeypatch, capsys, "--calls", "6", "--only", "gradient of nearest")
    rows = [line for line in said.splitlines() if line.startswith("| ")][2:]
    assert status == 0 and all("gradient of nearest" in r or "itself" in r or "all calls" in r for r in rows)


def test_a_name_that_no_call_has_is_refused_at_the_end_of_the_time(monkeypatch, capsys):
    assert run(monkeypatch, capsys, "--minutes", "0.002", "--only", "nothing")[0] == 2


def test_a_result_of_another_shape_fails_the_run(monkeypatch, capsys):
    bad = Drawn("bad", "NumPy", "x = np.zeros(3)", "x[1:]", "x")
    good = bad._replace(ours="x")
    monkeypatch.setattr(random_calls, "draw", lambda seed, number: bad if number == 1 else good)
    status, said = run(monkeypatch, capsys, "--calls", "3")
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
    rows = random_calls.table([Timed(call, 1, Contest(ratio=r)) for r in (0.5, 0.94, 0.96, 2.0)])[0].splitlines()
    assert rows[2] == "| f / NumPy | 1 | 4 | 2 | 0.50 | 0.95 |"

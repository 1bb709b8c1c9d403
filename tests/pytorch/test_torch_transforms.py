"""Every operation under every transform of PyTorch, eager and compiled, and the tables of them in the docs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import torch

import transforms
from roots import DOCS
from torch_cases import CASES, Wrong

pytestmark = pytest.mark.usefixtures("fresh_compiler")


def compiles(name):
    return transforms.TRANSFORMS[name].column.startswith(("compile", "export", "wrapper subclass"))


def chosen():
    """The default tests. Compiling takes a second, C++ several: each case under one such transform, in turn. Of eager
    transforms every eighth case; of each transform at least one."""
    found = set()
    for k, case in enumerate(CASES):
        its = [name for name, c in transforms.CHECKS if c is case]
        compiled = [name for name in its if compiles(name) and name != "inductor"]
        found.add((compiled[k % len(compiled)], case.name))
        found |= {(name, case.name) for n, name in enumerate(its) if not compiles(name) and (n + k) % 8 == 0}
    names = {name for name, _ in found}
    return found | {
        next((n, c.name) for n, c in transforms.CHECKS if n == name)
        for name in transforms.TRANSFORMS
        if name not in names and name != "inductor"
    }


DAILY = chosen()


def checks():
    for name, case in transforms.CHECKS:
        reason = transforms.EXCEPTIONS.get((name, case.name))
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        marks += [pytest.mark.slow] * ((name, case.name) not in DAILY)
        yield pytest.param(name, case, id=f"{name}-{case.name}", marks=marks)


@pytest.mark.parametrize("name, case", list(checks()))
def test_transform(name, case):
    transforms.run(name, case, case.ours)


def test_every_case_and_every_transform_runs_by_default():
    # test_torch_inductor.py has a default test that compiles C++.
    assert {name for name, _ in DAILY} == {name for name, _ in transforms.CHECKS} - {"inductor"}
    for some in (DAILY, {check for check in DAILY if compiles(check[0])}):
        assert {case for _, case in some} == {case.name for case in CASES}


def test_the_table_is_whole():
    assert len({case.name for case in CASES}) == len(CASES) >= 22
    assert len(transforms.CHECKS) >= 800
    assert set(transforms.EXCEPTIONS) <= {(name, case.name) for name, case in transforms.CHECKS}


@pytest.mark.parametrize("name", ["backward", "jvp", "vmap", "compile", "export", "complex", "inference_mode"])
def test_wrong_values_are_found(name):
    case = next(c for c in CASES if c.name == "int")
    with pytest.raises(Wrong):
        transforms.run(name, case, lambda x: case.ours(x) * 2)


@pytest.mark.parametrize("name", ["backward", "forward mode", "__torch_function__", "meta", "compile"])
def test_a_function_that_goes_around_pytorch_is_found(name):
    """The right values in a fresh tensor that knows of nothing."""
    case = next(c for c in CASES if c.name == "repeat")
    with pytest.raises((Wrong, RuntimeError)):
        transforms.run(name, case, lambda x: torch.tensor(case.truth(x).tolist(), dtype=torch.float64))


def test_the_table_in_the_docs():
    """Every transform is listed, and ours says no where the exceptions say so, and nowhere else."""
    text = (DOCS / "compile.md").read_text().split("<!-- table -->")[1].split("<!-- /table -->")[0]
    listed = {title: said.split("; ") for title, said in re.findall(r"^- \*\*(.*)\*\*: (.*)$", text, re.M)}
    assert listed == {title: [*columns] for title, columns in transforms.COLUMNS.items()}
    assert {t.column for t in transforms.TRANSFORMS.values()} == {c for cs in transforms.COLUMNS.values() for c in cs}
    found = set()
    rows = {case.row for case in CASES}
    for line in re.findall(r"^\| (?!function)(.*) \|$", text, re.M):
        row, columns, ours, _ = line.split(" | ")
        assert row in rows and ours.partition(":")[0] in ("-", "yes", "partly", "no")
        if ours.startswith(("partly", "no")):
            found |= {(row, column) for column in columns.split("; ")}
    assert found == {
        (case.row, transforms.TRANSFORMS[name].column)
        for name, case in transforms.CHECKS
        if (name, case.name) in transforms.EXCEPTIONS
    }


@pytest.mark.slow
def test_the_table_in_the_docs_is_measured():
    done = subprocess.run([sys.executable, DOCS / "pytorch_table.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]

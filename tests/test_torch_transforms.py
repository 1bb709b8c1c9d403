"""Every operation under everything that PyTorch does to functions and tensors, and errors, eager and compiled."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import tenter  # noqa: E402
import transforms  # noqa: E402
from torch_cases import CASES, Wrong  # noqa: E402

X = torch.arange(12.0).reshape(4, 3)
DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(autouse=True)
def fresh_compiler():
    with transforms.quiet():
        torch._dynamo.reset()
        yield
        torch._dynamo.reset()


def compiles(name):
    return transforms.TRANSFORMS[name].column.startswith(("compile", "export", "wrapper subclass"))


def chosen():
    """The default tests. Compiling takes a second, C++ several: each case under one such transform, in turn. Of eager
    transforms every second case; of each transform at least one."""
    found = {("inductor", "counts")}
    for k, case in enumerate(CASES):
        its = [name for name, c in transforms.CHECKS if c is case]
        compiled = [name for name in its if compiles(name) and name != "inductor"]
        found.add((compiled[k % len(compiled)], case.name))
        found |= {(name, case.name) for n, name in enumerate(its) if not compiles(name) and (n + k) % 2 == 0}
    names = {name for name, _ in found}
    return found | {
        next((n, c.name) for n, c in transforms.CHECKS if n == name)
        for name in transforms.TRANSFORMS
        if name not in names
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


def test_every_case_and_every_transform_is_a_daily_check():
    assert {name for name, _ in DAILY} == {name for name, _ in transforms.CHECKS}
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


# ---- registered operators

OFFSETS = torch.tensor([0, 2, 2, 3, 7])
RULE = (None, "linear", False, False, False)
RESIZE, AREA = "linear,centre,,,,floor,torch,replicate,,-0.75", "overlap,centre,3/2,1/2,4,floor,exact,wrap,,-0.75"


def tracked(*shape: int):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


OPERATOR_CALLS = [
    ("repeat", (tracked(4, 3), [2, 3], False)),
    ("repeat", (tracked(4, 3), [1, 3], True)),
    ("repeat_adjoint", (tracked(8, 9), [4, 3], [2, 3], False)),
    ("repeat_adjoint", (tracked(4, 9), [4, 3], [1, 3], True)),
    ("repeat_counts", (tracked(4, 3), OFFSETS, 0, 7)),
    ("repeat_counts_adjoint", (tracked(7, 3), OFFSETS, 0)),
    ("interpolate", (tracked(2, 3, 4, 5), [7, 3], *RULE)),
    ("interpolate", (tracked(2, 3, 4, 5).detach().contiguous(memory_format=torch.channels_last), [7, 3], *RULE)),
    ("interpolate", (tracked(2, 3, 4, 5), [6, 8], [1.7, 1.7], "cubic", False, True, False)),
    ("interpolate_adjoint", (tracked(2, 3, 7, 3), [4, 5], *RULE)),
    ("resize", (tracked(2, 4, 5), [7, 3], [0, 2], f"{RESIZE};{AREA}", False)),
    ("resize", (tracked(2, 3, 4, 5).detach().contiguous(memory_format=torch.channels_last), [3], [3], RESIZE, False)),
    ("resize_adjoint", (tracked(7, 4, 3), [2, 5], [0, 2], f"{RESIZE};{AREA}", False)),
    ("offsets", (torch.tensor([2, 0, 1, 4]), 4, None)),
    ("offsets", (torch.tensor([[2, 0, 1, 4], [1, 1, 1, 4]], dtype=torch.int32), 4, 7)),
    ("total", (OFFSETS,)),
]


@pytest.mark.parametrize("name, args", OPERATOR_CALLS, ids=[f"{i}-{c[0]}" for i, c in enumerate(OPERATOR_CALLS)])
def test_opcheck(name, args):
    tenter.torch.report()  # registers them
    torch.library.opcheck(getattr(torch.ops.tenter, name).default, args)


def test_every_operator_is_checked():
    tenter.torch.report()
    registered = {name.split("::")[1] for name in torch._C._dispatch_get_all_op_names() if name.startswith("tenter::")}
    assert {name for name, _ in OPERATOR_CALLS} == registered


# ---- errors

# Found when the code runs: counts are values.
RUN_TIME = {
    "negative counts": (lambda x, c: tenter.repeat_interleave(x, c, 0), [1, -2, 1, 1]),
    "output_size too small": (lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=6), [1, 3, 0, 3]),
    "output_size too large": (lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=9), [1, 3, 0, 3]),
    "negative counts, right output_size": (
        lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=1),
        [1, -2, 1, 1],
    ),
    "a sum past int64": (lambda x, c: tenter.repeat_interleave(x, c, 0), [2**62, 2**62, 2**62, 2**62]),
}
# Found while tracing: shapes, dtypes, words.
TRACE_TIME = {
    "wrong number of counts": lambda x: tenter.repeat_interleave(x, torch.tensor([1, 2, 3]), 0),
    "float counts": lambda x: tenter.repeat_interleave(x, torch.tensor([1.0, 2.0, 1.0, 1.0]), 0),
    "2-D counts": lambda x: tenter.repeat_interleave(x, torch.ones(2, 2, dtype=torch.int64), 0),
    "negative int": lambda x: tenter.repeat_interleave(x, -1, 0),
    "bool": lambda x: tenter.repeat_interleave(x, True, 0),
    "dim": lambda x: tenter.repeat_interleave(x, 2, 5),
    "output_size of an int": lambda x: tenter.repeat_interleave(x, 2, 0, output_size=9),
    "repeat, too few sizes": lambda x: tenter.repeat(x, 2),
    "repeat, axis": lambda x: tenter.repeat(x, 2, axis=0),
    "tile, negative": lambda x: tenter.tile(x, (2, -1)),
    "tile, a float": lambda x: tenter.tile(x, 2.0),
    "expand, a dim that cannot": lambda x: tenter.expand(x, 5, 3),
    "interpolate, 2-d": lambda x: tenter.interpolate(x, 4),
    "mode": lambda x: tenter.interpolate(x[None], 4, mode="biliner"),
    "mode of another rank": lambda x: tenter.interpolate(x[None], 4, mode="bilinear"),
    "size and scale_factor": lambda x: tenter.interpolate(x[None], 4, scale_factor=2.0),
    "size 0": lambda x: tenter.interpolate(x[None], 0),
    "scale_factor 0": lambda x: tenter.interpolate(x[None], scale_factor=0.0),
    "antialias of nearest": lambda x: tenter.interpolate(x[None], 4, antialias=True),
    "align_corners of nearest": lambda x: tenter.interpolate(x[None], 4, align_corners=True),
}
REFUSALS = (TypeError, ValueError, IndexError)


def refusal(f, *args):
    """Kind and first line of the error; the rest shows the call, which is an operator's in compiled code."""
    with pytest.raises(REFUSALS) as caught:
        f(*args)
    return type(caught.value), str(caught.value).splitlines()[0]


def run_time():
    for backend in ("aot_eager", "inductor"):
        for name in RUN_TIME:
            # Compiling C++ takes seconds.
            yield pytest.param(name, backend, marks=[pytest.mark.slow] * (backend == "inductor"))


@pytest.mark.parametrize("name, backend", list(run_time()))
def test_errors_at_run_time(name, backend):
    """The same error, and the same graph serves good counts before and after."""
    f, counts = RUN_TIME[name]
    eager = refusal(f, X, torch.tensor(counts))
    compiled = torch.compile(lambda x, c: f(x.sin(), c).cos(), backend=backend, fullgraph=True)
    for x in (X, X.clone().requires_grad_()):
        assert refusal(compiled, x, torch.tensor(counts)) == eager
    if "output_size" not in name:
        assert compiled(X, torch.tensor([1, 3, 0, 3])).shape == (7, 3)
        assert refusal(compiled, X, torch.tensor(counts)) == eager


# Dynamo takes a second or two to give up on each; of a kind of refusal one is enough for every day.
DAILY_ERRORS = ("float counts", "mode")


def trace_time():
    for name in TRACE_TIME:
        yield pytest.param(name, marks=[pytest.mark.slow] * (name not in DAILY_ERRORS))


@pytest.mark.parametrize("name", list(trace_time()))
def test_errors_while_tracing(name):
    """Under fullgraph Dynamo wraps them; otherwise it leaves the call to eager code, whose error this is."""
    f = TRACE_TIME[name]
    eager = refusal(f, X)
    assert refusal(torch.compile(lambda x: f(x * 1), backend="aot_eager"), X) == eager
    torch._dynamo.reset()
    with pytest.raises((torch._dynamo.exc.TorchDynamoException, *REFUSALS)) as caught:
        torch.compile(lambda x: f(x * 1), backend="aot_eager", fullgraph=True)(X)
    assert eager[1] in str(caught.value)


@pytest.mark.parametrize("name", TRACE_TIME)
def test_errors_of_export(name):
    with pytest.raises(REFUSALS) as caught:
        torch.export.export(transforms.c.OfOne(TRACE_TIME[name]), (X,))
    assert refusal(TRACE_TIME[name], X)[1] in str(caught.value)


UNKNOWN = {
    "signal to size": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, 9, mode="linear")),
    "signal by scale": ((1, 2, 4), 2, lambda y: tenter.interpolate(y, scale_factor=2.0, mode="linear")),
    "image to size": ((1, 2, 5, 4), 3, lambda y: tenter.interpolate(y, (9, 9), mode="bicubic")),
    "image by scale": ((1, 4, 5, 4), 3, lambda y: tenter.interpolate(y, scale_factor=1.5, mode="nearest-exact")),
    "batch": ((4, 2, 5, 6), 0, lambda y: tenter.interpolate(y, 7, mode="bilinear", antialias=True)),
    "repeat": ((4, 2), 0, lambda y: tenter.repeat(y, 2, 3)),
    "counts": ((4, 2), 0, lambda y: tenter.repeat_interleave(y, torch.ones(y.shape[0], dtype=torch.int64), 0)),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_lengths_that_depend_on_data_go_on_to_other_operations(name):
    """In one graph, whose lengths are symbols without a value."""
    shape, dim, f = UNKNOWN[name]
    x, counts = torch.randn(shape), torch.tensor([1, 2, 0, 3])
    both = lambda x, counts: f(tenter.repeat_interleave(x, counts, dim))
    torch._dynamo.reset()
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    for given in (counts, counts.flip(0) * 2):
        torch.testing.assert_close(compiled(x, given), both(x, given), rtol=0, atol=0)


def test_an_exported_program_is_loaded_elsewhere(tmp_path):
    class Stretch(torch.nn.Module):
        def forward(self, x, counts):
            return tenter.interpolate(tenter.repeat_interleave(x, counts, 2), 9, mode="linear")

    inputs = torch.randn(2, 2, 4), torch.tensor([1, 2, 0, 3])
    batch = {0: torch.export.Dim("batch")}
    torch.export.save(torch.export.export(Stretch(), inputs, dynamic_shapes=(batch, None)), tmp_path / "program.pt2")
    code = f"""
import torch, tenter.torch
program = torch.export.load({str(tmp_path / "program.pt2")!r}).module()
print(tuple(program(torch.randn(3, 2, 4), torch.tensor([5, 2, 0, 3])).shape))
try: program(torch.randn(3, 2, 4), torch.tensor([5, 2, 0, -3]))
except ValueError as error: print(str(error).splitlines()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "(3, 2, 9)",
        "repeats: expected counts that are not negative, got -3 at position 3",
    ], done.stderr[-800:]


def test_vmap_over_some_of_the_arguments():
    x, counts = torch.randn(3, 4, 2), torch.tensor([[1, 0, 2, 3], [2, 2, 1, 1], [0, 0, 6, 0]])
    one = lambda x, c: tenter.repeat_interleave(x, c, 0)
    inner = torch.vmap(one, in_dims=(0, None))
    want = torch.stack([torch.stack([one(a, c) for a in x]) for c in counts])
    assert torch.equal(torch.vmap(inner, in_dims=(None, 0))(x, counts), want)
    want = torch.stack([torch.stack([one(a, c) for c in counts]) for a in x])
    assert torch.equal(torch.vmap(torch.vmap(one, in_dims=(None, 0)), in_dims=(0, None))(x, counts), want)


def test_positions_of_counts():
    """repeat_interleave of one argument."""
    counts = torch.tensor([[1, 0, 2, 3], [2, 2, 1, 1]], dtype=torch.int32)
    want = torch.stack([torch.repeat_interleave(c) for c in counts])
    got = torch.vmap(tenter.repeat_interleave)(counts)
    assert torch.equal(got, want) and got.dtype == want.dtype
    torch._dynamo.reset()
    compiled = torch.compile(lambda c: tenter.repeat_interleave(c), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(counts[0]), want[0])
    with pytest.raises(ValueError, match="repeats: expected counts that are not negative"):
        compiled(-counts[0])


def test_vmap_refuses_counts_of_unequal_sums():
    counts = torch.tensor([[1, 2, 0, 1], [1, 1, 1, 4]])
    per_row = torch.func.vmap(lambda c: tenter.repeat_interleave(X, c, 0))
    kind, line = refusal(per_row, counts)
    assert kind is ValueError and line == (
        "repeats: expected counts of equal sums for all that vmap maps over, got sums [4, 7]"
    )
    assert per_row(torch.tensor([[1, 2, 0, 1], [0, 0, 4, 0]])).shape == (2, 4, 3)
    nested = torch.func.vmap(per_row)
    assert refusal(nested, torch.stack([counts, counts])) == (kind, line.replace("[4, 7]", "[4, 7, 4, 7]"))
    with_total = torch.func.vmap(lambda c: tenter.repeat_interleave(X, c, 0, output_size=4))
    assert refusal(with_total, counts) == (ValueError, "output_size: expected 7, the sum of the counts, got 4")
    assert refusal(torch.compile(per_row, backend="aot_eager", fullgraph=True), counts) == (kind, line)


def test_a_plain_if_on_an_unknown_size_breaks_the_graph():
    """As of PyTorch's own function: there is no one graph of it."""

    def f(x, counts):
        y = tenter.repeat_interleave(x, counts, 0)
        return y.sin() if y.shape[0] > 6 else y.cos()

    with pytest.raises(torch._dynamo.exc.UserError, match="data-dependent expression"):
        torch.compile(f, backend="aot_eager", fullgraph=True)(X, torch.tensor([1, 3, 0, 3]))


def test_the_first_call_of_a_process_may_be_compiled():
    """Nothing that tenter sets up then makes its graph stale."""
    code = (
        "import torch, tenter\n"
        "f = torch.compile(lambda x: tenter.repeat(x, 2, 1), backend='eager', fullgraph=True, dynamic=True)\n"
        "f(torch.ones(2, 3))\n"
        "with torch.compiler.set_stance('fail_on_recompile'): assert f(torch.ones(4, 5)).shape == (8, 5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]


# ---- the tables in the docs


def test_tables_in_the_docs():
    """Every operation and every transform is there, and ours says what the exceptions say."""
    text = (DOCS / "pytorch.md").read_text().split("<!-- table -->")[1].split("<!-- /table -->")[0]
    tables = [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if "---" not in line]
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M)
    ]
    assert {table[0][0]: table[0][1:] for table in tables} == transforms.COLUMNS
    assert {t.column for t in transforms.TRANSFORMS.values()} == {c for cs in transforms.COLUMNS.values() for c in cs}
    rows = list(dict.fromkeys(case.row for case in CASES))
    exceptions = {
        (case.row, transforms.TRANSFORMS[name].column)
        for name, case in transforms.CHECKS
        if (name, case.name) in transforms.EXCEPTIONS
    }
    for (_, *columns), *body in tables:
        assert [row for row, *_ in body] == rows
        for row, *cells in body:
            for column, cell in zip(columns, cells, strict=True):
                asked = [n for n, c in transforms.CHECKS if c.row == row and transforms.TRANSFORMS[n].column == column]
                ours = cell.split(" / ")[0].split("<")[0]
                served = ("no", "partly") if (row, column) in exceptions else ("yes",)
                assert ours in (served if asked else ("-",)), f"{row}, {column}: {cell}"


@pytest.mark.slow
def test_tables_in_the_docs_are_measured():
    done = subprocess.run([sys.executable, DOCS / "pytorch_table.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]

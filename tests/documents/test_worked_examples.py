"""The worked examples of docs/internals, carried out on a copy of the sources: what they list is all that it takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tenter
from roots import ROOT
from tenter import _native

# What an editable installation puts before the import path would find the sources that are not changed.
FIRST = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
sys.path.insert(0, sys.argv[1])
import numpy as np, tenter
assert tenter.__file__.startswith(sys.argv[1])
"""
FLIP = """
import torch
x = np.arange(24.0).reshape(2, 3, 4)
for dims in ((0,), (1, 2), (-1,)):
    assert (tenter.flip(x, *dims) == np.flip(x, dims)).all()
t = torch.arange(24.0).reshape(2, 3, 4)
g = torch.rand(2, 3, 4)
compiled = torch.compile(lambda t, *dims: tenter.flip(2 * t, *dims) / 2, fullgraph=True)
assert torch.equal(tenter.flip(t, 0, 2), t.flip(0, 2)) and torch.equal(compiled(t, 0, 2), t.flip(0, 2))
assert torch.equal(torch.func.vmap(lambda row: tenter.flip(row, 0))(t), t.flip(1))
leaf = t.clone().requires_grad_()
for call in (tenter.flip, compiled):
    (found,) = torch.autograd.grad((call(leaf, 0, 2) * g).sum(), leaf)
    assert torch.equal(found, g.flip(0, 2))
torch.library.opcheck(torch.ops.tenter.flip.default, (t, [0, 2]))
try:
    tenter.flip(x, 3)
except IndexError as error:
    assert "flip(float64[2, 3, 4], 3)" in str(error)
else:
    raise AssertionError("not refused")
"""


DTYPE = """
import torch
from tenter import maps, ragged
f8 = torch.float8_e5m2

def same(found, want):
    want = want.to(f8)
    bits = found.view(torch.uint8) == want.view(torch.uint8)
    assert found.dtype == f8 and (bits | (found.float().isnan() & want.float().isnan())).all()

every = torch.arange(256, dtype=torch.uint8).view(f8)
numbers = maps.Window(256, 256, np.arange(256), np.arange(257), np.linspace(0.1, 3, 256))
same(numbers.apply(every, 0), numbers.apply(every.float(), 0))
x = (torch.randn(5, 9, 17, generator=torch.Generator().manual_seed(0)) * 4).to(f8)
outside = {"axes": 1, "box": [(-3, 12)], "value": 2.0}
counts = torch.arange(17)
calls = [
    lambda t: tenter.resize(t, (4, 7, 40)),
    lambda t: tenter.resize(t, (13, 6), axes=(0, 1), mode="cubic", antialias=True),
    lambda t: tenter.resize(t, 40, axes=2, mode="nearest"),
    lambda t: tenter.interpolate(t[None], (4, 30), mode="bilinear"),
    lambda t: tenter.repeat_interleave(t, 3, 1),
    lambda t: tenter.repeat_interleave(t, counts, 2),
]
without_gradients = [
    lambda t: tenter.resize(t, 7, edge="constant", **outside),
    lambda t: tenter.resize(t, 8, edge="extrapolate", **outside),
    lambda t: tenter.resize(t.flatten()[:700], 200_000),
    lambda t: tenter.resize(t, 7, axes=2, out=torch.empty(5, 9, 7, dtype=t.dtype)),
    lambda t: torch.func.vmap(lambda row: tenter.resize(row, 7, axes=1))(t),
    *[lambda t, f=f: f(t, [3, 0, 2]) for f in (ragged.segment_sum, ragged.segment_mean)],
    *[lambda t, f=f: f(t, [3, 2]) for f in (ragged.segment_max, ragged.segment_min)],
]
for call in 2 * (*calls, *without_gradients):  # the second time without the checks
    same(call(x), call(x.float()))
for call in 2 * calls:
    found = []
    for t in (x, x.float()):
        leaf = t.clone().requires_grad_()
        y = call(leaf)
        g = torch.linspace(-2, 2, y.numel()).reshape(y.shape).to(f8).to(y.dtype)
        found += torch.autograd.grad(y, leaf, g)
    same(*found)
compiled = torch.compile(lambda t: tenter.resize(t, 7, axes=2), fullgraph=True)
same(compiled(x), tenter.resize(x.float(), 7, axes=2))
assert "float8_e5m2" in str(tenter.explain(tenter.resize, x, 7, axes=2))
"""


# A new argument in front of those that the core reads, and one between them.
NEW_ARGUMENTS = {
    "_specs/resize_arguments.py": [
        ("    size: Any = None\n", "    first: Any = 7\n    size: Any = None\n    second: Any = (1, 2)\n"),
        ("    size, scale, axes, mode,", "    _, size, _, scale, axes, mode,"),
    ],
    "resampling.py": [
        ('"resize", x, size, scale,', '"resize", x, 7, size, (1, 2), scale,'),
        ("Arguments(size, scale, axes, mode,", "Arguments(7, size, (1, 2), scale, axes, mode,"),
    ],
    "_execution/calls.py": [('("repeats", "dim", "output_size")', '("first", "repeats", "second", "dim", "output_size")')],
    "interleaving.py": [
        ('("repeat_interleave", x, repeats, dim, output_size)', '("repeat_interleave", x, 7, repeats, (1, 2), dim, output_size)'),
        ('("repeat_interleave", x, out, repeats, dim,', '("repeat_interleave", x, out, 7, repeats, (1, 2), dim,'),
        ('"repeat_interleave", x, (repeats, dim, output_size),', '"repeat_interleave", x, (7, repeats, (1, 2), dim, output_size),'),
    ],
}  # fmt: skip
# Twice, as the second call of a kind is the core's, with other numbers.
CALLS = """
from fractions import Fraction
x = np.random.default_rng(0).normal(size=(9, 14)).astype("float32")
both = {"axes": (0, 1)}
made = []
for n in range(5, 9):
    made += [
        tenter.resize(x, (n, n + 1), **both),
        tenter.resize(x, n, axes=1, box=[(0.5, n + 0.25)]),
        tenter.resize(x, n, axes=1, box=[(n, 1)], mode="cubic"),
        tenter.resize(x, scale=Fraction(n, 3), axes=0),
        tenter.resize(x, scale=[n / 4, 0.5], axes=(1, 0)),
        tenter.resize(x, n, axes=1, box=[(-2, n)], edge="constant", value=0.25),
        tenter.resize(x, (n, 4), like=tenter.conventions.Convention.of("torch", aspect_ratio="not_larger"), **both),
        tenter.resize(x, n, axes=0, out=np.empty((n, 14), "float32")),
        tenter.repeat_interleave(x, n, 0), tenter.repeat_interleave(x, n),
        tenter.repeat_interleave(x, np.arange(9) % n, dim=0),
        tenter.repeat_interleave(x, np.arange(9) % n, 0, output_size=int((np.arange(9) % n).sum())),
        tenter.repeat_interleave(x, n, 1, out=np.empty((9, 14 * n), "float32")),
    ]
for y in made:
    sys.stdout.buffer.write(repr(y.shape).encode() + y.tobytes())
from tenter._plans.specializations import native
print(len(native), sum(f is not None for f in native.values()))
"""


def blocks(title: str) -> list[str]:
    """The code of an example, as it stands on its page."""
    text = (ROOT / "docs" / "internals" / "worked-examples.md").read_text()
    begin = text.index(f"**{title}")
    example = text[begin : text.index("\n**", begin + 1)]
    found = re.findall(r"^   ```(?:python|cpp)\n(.*?)^   ```$", example, re.DOTALL | re.MULTILINE)
    return [re.sub(r"^   ", "", code, flags=re.MULTILINE) for code in found]


def sources(folder: Path) -> Path:
    copied = folder / "src" / "tenter"
    shutil.copytree(Path(tenter.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    core = Path(sys.modules[_native.HostPlan.__module__].__file__)
    shutil.copy(core, copied / "_native" / core.name)
    return copied


def put(file: Path, code: str, before: str) -> None:
    text = file.read_text()
    assert text.count(before) == 1, before
    file.write_text(text.replace(before, f"{code}{before}"))


def core_of(folder: Path) -> Path:
    """The core, built of a folder with native/ for one instruction set."""
    settings = {
        "CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable, "TENTER_LEVELS": _native.testing.levels()[0],
    }  # fmt: skip
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    build = folder / "build"
    for command in (["-S", folder, "-B", build, "-G", "Ninja", *defined], ["--build", build]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "warning:" not in done.stdout  # a switch without the dtype would be one
    [core] = build.glob("_core*.so")
    return core


def run(folder: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST + code, str(folder / "src")],
        capture_output=True, text=True, timeout=600, cwd=folder, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def printed(folder: Path, code: str) -> bytes:
    return subprocess.run([sys.executable, "-c", FIRST + code, str(folder)], capture_output=True, check=True).stdout


def test_arguments_are_found_by_their_names(tmp_path):
    """A function may get an argument at any place: sizes, boxes, scales, values, counts and dims are still read, and
    the core plans as many calls as before."""
    copied = sources(tmp_path)
    before = printed(copied.parent, CALLS)
    for name, changes in NEW_ARGUMENTS.items():
        for old, new in changes:
            text = (copied / name).read_text()
            assert old in text, old
            (copied / name).write_text(text.replace(old, new))
    assert printed(copied.parent, CALLS) == before


@pytest.mark.slow
def test_flip(tmp_path):
    """An operation is what the example says: also for torch.compile, vmap and gradients."""
    spec, operands, public, kept = blocks("An operation")
    copied = sources(tmp_path)
    (copied / "_specs" / "flip.py").write_text(spec)
    imported, functions, row = re.fullmatch(r"(from .*?\n)\n(.*)(Flip: .*)", operands, re.DOTALL).groups()
    file = copied / "_specs" / "operands.py"
    put(file, imported, "from tenter._specs.repeat import")
    put(file, functions.strip() + "\n\n\n", "class Operator(NamedTuple)")
    put(file, "    " + row, "    Applied: Operator(")
    imported, function = re.fullmatch(r"(from .*?\n)\n(.*)", public, re.DOTALL).groups()
    file = copied / "ops.py"
    put(file, imported, "from tenter._specs.repeat_arguments import")
    file.write_text(file.read_text() + "\n\n" + function)
    file = copied / "__init__.py"
    file.write_text(re.sub(r"(from tenter\.ops import .*?)expand", r"\1flip, expand", file.read_text(), count=1))
    imported, function = re.fullmatch(r"(from .*?\n)\n(.*)", kept, re.DOTALL).groups()
    file = copied / "_torch" / "in_graph.py"
    put(file, imported, "from tenter._specs.repeat import")
    put(file, function.strip() + "\n\n\n", "def repeat(x: Tensor")
    run(tmp_path, FLIP)


@pytest.mark.slow
def test_dtype(tmp_path):
    """A dtype is what the example says: sums, extremes, gradients and compiled calls have the bits of float32's, rounded
    once."""
    rows, conversions, extreme, fill_value, of_python = blocks("A dtype")
    copied = sources(tmp_path)
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    native = Path(shutil.copytree(ROOT / "native", tmp_path / "native"))
    header, type_, row = rows.strip().split("\n\n")
    file = native / "kernels" / "dtypes.hpp"
    put(file, header + "\n", "#include <cstdint>")
    put(file, type_ + "\n\n", "// The columns: name;")
    put(file, f"  {row}\n", '  row(u8, "uint8"')
    load, store, load_one = conversions.strip().split("\n\n")
    file = native / "levels" / "convert-inl.hpp"
    put(file, load + "\n", "  } else if constexpr (std::is_same_v<In, f16>) {\n    return widen_f16<N>")
    put(file, store + "\n", "  } else if constexpr (std::is_same_v<Out, f16>) {")
    put(file, load_one + "\n", "  } else if constexpr (std::is_same_v<In, f16>) {\n#if")
    put(native / "levels" / "extremes-inl.hpp", extreme, "    case Dtype::u8:\n    case Dtype::i8:")
    put(native / "plan" / "fill_value.cpp", fill_value, "  if (sums != Dtype::f64) no_kernel")
    put(copied / "_arrays" / "dtypes.py", of_python, '    "bfloat16": (')
    for old in (copied / "_native").glob("_core*.so"):
        old.unlink()
    shutil.copy(core_of(tmp_path), copied / "_native")
    run(tmp_path, DTYPE)

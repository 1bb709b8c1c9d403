"""The worked examples of CONTRIBUTING.md, carried out on a copy of the sources: what they list is all that it takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tenter
from tenter import _native

ROOT = Path(__file__).parent.parent
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


# A new argument in front of those that the core reads, and one between them.
NEW_ARGUMENTS = {
    "_specs/resize_arguments.py": [
        ("    size: Any = None\n", "    first: Any = 7\n    size: Any = None\n    second: Any = (1, 2)\n"),
        ("    size, scale, axes, mode,", "    _, size, _, scale, axes, mode,"),
    ],
    "resampling.py": [
        ('"resize", x, size, scale,', '"resize", x, 7, size, (1, 2), scale,'),
        ("            size, scale, axes, mode, antialias, like,", "            7, size, (1, 2), scale, axes, mode, antialias, like,"),
    ],
    "_execution/calls.py": [('("repeats", "dim", "output_size")', '("first", "repeats", "second", "dim", "output_size")')],
    "ops.py": [
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
        tenter.resize(x, (n, 4), policy="not_larger", **both),
        tenter.resize(x, n, axes=0, out=np.empty((n, 14), "float32")),
        tenter.repeat_interleave(x, n, 0), tenter.repeat_interleave(x, n),
        tenter.repeat_interleave(x, np.arange(9) % n, dim=0),
        tenter.repeat_interleave(x, np.arange(9) % n, 0, output_size=int((np.arange(9) % n).sum())),
        tenter.repeat_interleave(x, n, 1, out=np.empty((9, 14 * n), "float32")),
    ]
for y in made:
    sys.stdout.buffer.write(repr(y.shape).encode() + y.tobytes())
from tenter._plans.families import native
print(len(native), sum(f is not None for f in native.values()))
"""


def blocks(title: str) -> list[str]:
    """The code of an example, as it stands in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    begin = text.index(f"**{title}")
    example = text[begin : text.index("\n**", begin + 1)]
    found = re.findall(r"^   ```python\n(.*?)^   ```$", example, re.DOTALL | re.MULTILINE)
    return [re.sub(r"^   ", "", code, flags=re.MULTILINE) for code in found]


def sources(folder: Path) -> Path:
    copied = folder / "src" / "tenter"
    shutil.copytree(Path(tenter.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    core = Path(sys.modules[_native.Tuning.__module__].__file__)
    shutil.copy(core, copied / "_native" / core.name)
    return copied


def put(file: Path, code: str, before: str) -> None:
    text = file.read_text()
    assert text.count(before) == 1, before
    file.write_text(text.replace(before, f"{code}{before}"))


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
            assert text.count(old) == 1, old
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
    put(file, imported, "from tenter._specs.repeat import")
    file.write_text(file.read_text() + "\n\n" + function)
    file = copied / "__init__.py"
    file.write_text(re.sub(r"(from tenter\.ops import .*?)expand", r"\1flip, expand", file.read_text(), count=1))
    imported, function, row = re.fullmatch(r"(from .*?\n)\n(.*)(\"flip\": .*)", kept, re.DOTALL).groups()
    file = copied / "_execution" / "torch" / "in_graph.py"
    put(file, imported, "from tenter._specs.repeat import")
    put(file, function.strip() + "\n\n\n", "CALLS: dict")
    put(file, "    " + row, '    "repeat": _repeat,')
    done = subprocess.run(
        [sys.executable, "-c", FIRST + FLIP, str(tmp_path / "src")],
        capture_output=True, text=True, timeout=600, cwd=tmp_path, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr

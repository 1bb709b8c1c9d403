"""The kernels for CUDA devices, without one: run step by step by Triton's interpreter, and compiled for devices ahead of
time."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from unittest import mock

import pytest
import torch
from triton.backends.compiler import GPUTarget

import tenter
from cases import OPS
from maps_of import resample
from roots import TESTS
from tenter._arrays import torch_tensors
from tenter._arrays.layout import Layout
from tenter._execution import calls as checked, executor
from tenter._plans import cache
from tenter._rules import rounding
from tenter._specs import resize_arguments
from tenter._triton import driver, prefix_sum, windows
from tenter._triton.launch import Kernel
from tenter.maps import Copy, Window
from tenter.maps._counts import CountCopy

TARGETS = [80, 90, 100, 120]


def interpolated(n_in: int, n_out: int, kind: str = "linear") -> Window:
    made = resample(kind, n_in, n_out)
    assert isinstance(made, Window)
    return made


@pytest.mark.parametrize(
    "which, at_least", [("not slow", 140), pytest.param("slow", 700, marks=pytest.mark.slow)], ids=["some", "the rest"]
)
def test_the_laws_of_devices_hold_for_interpreted_kernels(which: str, at_least: int) -> None:
    """tests/device, in a process of its own, as Triton decides when it is imported."""
    folder = TESTS / "device"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", f"gpu and {which}", "-p", "no:cacheprovider", "-p", "xdist", folder],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True, timeout=1500,
        cwd=folder.parent.parent,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > at_least, done.stdout


# ---- what is compiled


@pytest.fixture(scope="module")
def recorded() -> dict[Kernel, str]:
    """Every kernel that the table of operations and what it lacks would launch, and for which call."""
    found: dict[Kernel, str] = {}
    name = ""

    def record(kernel: Kernel, grid: int, args: tuple) -> None:
        found.setdefault(kernel, name)
        assert len(args) == len(kernel.types) == len(kernel.function.arg_names)
        assert all(-(2**31) <= a < 2**31 for a, kind in zip(args, kernel.types) if kind == "i32"), name

    with pytest.MonkeyPatch.context() as patch, mock.patch.dict(cache.plans):  # they are not for the host
        patch.setattr(torch_tensors, "device", lambda x: "cpu")
        executor.of(torch.zeros(1))
        patch.setitem(executor.FIND, torch.Tensor, checked.unknown)  # the core knows that these are on the host
        patch.setattr("tenter._triton.launch.interpret", record)
        patch.setattr(prefix_sum, "BLOCK", 16)
        for op, shape, args, kwargs, dtype in calls():
            name = f"{op} of {dtype}{list(shape)}, {args} {kwargs}"
            x = torch.empty(shape, dtype=dtype)
            x.requires_grad_(dtype.is_floating_point or dtype.is_complex)
            if args and isinstance(args[0], torch.Tensor):
                kwargs = {**kwargs, "output_size": int(args[0].sum())}
            y = getattr(tenter, op)(x, *args, **kwargs)
            if y.requires_grad:
                y.backward(torch.empty_like(y))
    for layout, maps in huge():
        name = f"{layout.shape}"
        for step in windows.launches(layout, maps).steps:
            assert "i32" not in step.kernel.types, name
            found.setdefault(step.kernel, name)
    return found


def calls() -> list[tuple]:
    f32 = torch.float32
    found: list[tuple] = [(c.op, c.shape, c.args, c.kwargs, f32) for c in OPS if c.op != "expand"]
    counts = torch.tensor([1, 0, 3, 2, 5] * 8)
    for shape, dim in [((40,), 0), ((3, 40), 1), ((40, 64), 0), ((2, 40, 3), 1)]:
        for dtype in (torch.float32, torch.float16, torch.uint8, torch.complex128):
            found.append(("repeat_interleave", shape, (counts, dim), {}, dtype))
    found.append(("repeat_interleave", (2000, 1), (torch.tensor([1]), 1), {}, torch.float32))
    found.append(("interpolate", (1, 3, 5, 1), (), {"size": (10, 1), "mode": "bilinear"}, f32))
    floats = [torch.float64, torch.float16, torch.bfloat16, torch.complex64]
    integers = [getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
    for dtype in [f32, *floats, *integers]:
        for shape in [(1, 2, 20, 70), (1, 40, 6, 5), (1, 3, 40, 7)]:
            for mode in ("bilinear", "bicubic", "area"):
                found.append(("interpolate", shape, (), {"size": (41, 133), "mode": mode}, dtype))
            found.append(("interpolate", shape, (), {"size": (3, 4), "mode": "bicubic", "antialias": True}, dtype))
        found.append(("repeat_interleave", (6, 7), (3, 0), {}, dtype))
        found.append(("tile", (6, 64), ((2, 3),), {}, dtype))
    found.append(("interpolate", (1, 2, 9, 20, 70), (), {"size": (17, 41, 133), "mode": "trilinear"}, f32))
    return found


def huge() -> list[tuple[Layout, tuple]]:
    """What needs numbers of 64 bits, which no memory is needed for to plan."""
    window = Window(4, 3, [0, 1, 2], [0, 2, 4, 6], [0.5] * 6)
    return [
        (Layout((1 << 30, 4), (16, 4), "float32", 4, "cpu", 0), ((1, window),)),
        (Layout((4, 1 << 30), (4 << 30, 4), "float32", 4, "cpu", 0), ((0, window),)),
        (Layout((1 << 31, 3), (3, 1), "uint8", 1, "cpu", 0), ((1, Copy.repeat_each(3, 2)),)),
        (
            contiguous((2, 40_000, 40_000), "float32", 4),
            tuple((axis, interpolated(40_000, 40_000 + axis)) for axis in (1, 2)),
        ),
        (Layout((1 << 25, 64, 2), (512, 8, 4), "float32", 4, "cpu", 0), ((1, Copy.repeat_each(64, 3)),)),
        (Layout((1 << 29,), (4,), "float32", 4, "cpu", 0), ((0, CountCopy(1 << 29, 1 << 31)),)),
        (Layout((1 << 30,), (4,), "float32", 4, "cpu", 0), ((0, CountCopy(1 << 30, 5)),)),
        (Layout((1 << 20, 3), (1 << 12, 1), "uint8", 1, "cpu", 0), ((1, Copy.repeat_each(3, 2)),)),
        (Layout((1 << 20, 4), (1 << 14, 4), "float32", 4, "cpu", 0), ((1, window),)),
        (contiguous((1 << 20, 64), "float32", 4), ((1, interpolated(64, 4096)),)),
        # A tile's end can't be numbered.
        (contiguous((((1 << 31) - 2) // 3,), "uint8", 1), ((0, Copy.repeat_each(((1 << 31) - 2) // 3, 3)),)),
    ]


def compiles(kernel: Kernel, sm: int, call: str) -> None:
    try:
        made = kernel.compiled(GPUTarget("cuda", sm, 32))
    except Exception as error:
        raise AssertionError(f"{kernel.function.__name__} for {call}, sm_{sm}: {error}") from error
    ptx = made.asm["ptx"]
    assert f".target sm_{sm}" in ptx and f".entry {kernel.function.__name__}(" in ptx
    # What the core gives the driver: each argument that is no constant, and two addresses of Triton's scratch memory,
    # of which Triton 3.4 takes one.
    wide = ["32" if kind == "i32" else "64" for kind in kernel.types if kind != "constexpr"]
    its = made.metadata
    scratch = ["64", "64"] if hasattr(its, "profile_scratch_size") else ["64"]
    assert re.findall(r"\.param \.[a-z](\d+)\b.*_param_", ptx[: ptx.index(".reqntid")]) == [*wide, *scratch]
    assert its.num_ctas == 1 and not driver.wants_more(its)
    assert f".reqntid {32 * its.num_warps}" in ptx


def has_single_column(kernel: Kernel) -> bool:
    constants = [name for name, kind in zip(kernel.function.arg_names, kernel.types) if kind == "constexpr"]
    return dict(zip(constants, kernel.constants)).get("BLOCK_C") == 1


def test_specialisations_compile(recorded: dict[Kernel, str]) -> None:
    """Of each function one in thirty here, and all with a single column, for one of the targets; all of them for all
    under `pytest -m slow`."""
    names = ("copy", "window", "byte_columns", "shared_row_window", "long_sums", "prefix_sum")
    assert {k.function.__name__ for k in recorded} == set(names)
    assert len(recorded) > 300
    some: dict[Kernel, str] = {}
    for name in names:
        some |= [item for item in recorded.items() if item[0].function.__name__ == name][::30]
    single = {kernel: call for kernel, call in recorded.items() if has_single_column(kernel)}
    assert {k.function.__name__ for k in single} == {"copy", "window"}
    some |= single
    share(lambda k, kernel, call: compiles(kernel, TARGETS[k % len(TARGETS)], call), some)


def share(f: Callable[[int, Kernel, str], None], recorded: dict[Kernel, str]) -> None:
    """f of each kernel, in two processes; what the second raises is printed there."""
    child = os.fork()
    mine = 1 if child else 0
    try:
        for k, (kernel, call) in enumerate(recorded.items()):
            if k % 2 == mine:
                f(k, kernel, call)
    except BaseException:
        if child:
            raise
        traceback.print_exc()
        os._exit(1)
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the other process failed"


@pytest.mark.slow
@pytest.mark.parametrize("sm", TARGETS)
def test_every_specialisation_compiles_for_every_target(sm: int, recorded: dict[Kernel, str]) -> None:
    share(lambda k, kernel, call: compiles(kernel, sm, call), recorded)


def steps_of(layout: Layout, *maps: tuple) -> list[Kernel]:
    return [step.kernel for step in windows.launches(layout, maps).steps]


def contiguous(shape: tuple[int, ...], dtype: str, itemsize: int, at: int = 0) -> Layout:
    strides = [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return Layout(shape, tuple(strides), dtype, itemsize, "cpu", at)


WIDE = [
    ("rows of a copy", contiguous((8, 64, 128), "bfloat16", 2), (1, Copy.repeat_each(64, 4))),
    ("rows of a tile", contiguous((64, 1024), "float32", 4), (1, Copy.tile(1024, 3))),
    ("sums of rows", contiguous((8, 1 << 14, 128), "float16", 2), (1, Copy.repeat_each(1 << 12, 4).T)),
    ("channels", contiguous((2, 30, 192), "bfloat16", 2), (1, interpolated(30, 60))),
]  # fmt: skip


@pytest.mark.parametrize("name, layout, map_", WIDE, ids=[w[0] for w in WIDE])
def test_what_lies_together_is_read_16_bytes_at_a_time(name: str, layout: Layout, map_: tuple) -> None:
    read = r"ld\.global(\.\w+)*\.v(4\.b32|2\.b64)"
    (kernel,) = steps_of(layout, map_)
    assert re.search(read, kernel.compiled(GPUTarget("cuda", 90, 32)).asm["ptx"])
    (kernel,) = steps_of(layout._replace(at=layout.itemsize), map_)  # at an address that isn't whole
    assert not re.search(read, kernel.compiled(GPUTarget("cuda", 90, 32)).asm["ptx"])


@pytest.mark.slow
def test_nothing_is_spilled() -> None:
    """Registers suffice for what is held of bicubic sheets, the largest, and of trilinear ones."""
    planes = contiguous((2, 8, 256, 256), "float32", 4)
    volume = contiguous((2, 4, 64, 64, 64), "float32", 4)
    up, back = interpolated(256, 512, "cubic"), interpolated(128, 256, "cubic").T
    triple = interpolated(64, 128)
    for layout, maps in [(planes, [(2, up), (3, up)]), (planes, [(2, back), (3, back)]),
                         (volume, [(2, triple), (3, triple), (4, triple)])]:  # fmt: skip
        (kernel,) = steps_of(layout, *maps)
        assert kernel.function.__name__ == "shared_row_window"
        sass = kernel.compiled(GPUTarget("cuda", 90, 32)).asm["sass"]
        assert "LDG" in sass and not re.search(r"\b(LDL|STL)\b", sass)


PHOTOGRAPHS = {
    "planes": (contiguous((8, 3, 1080, 1920), "uint8", 1), (224, 224), "lanczos"),
    "pixels": (
        Layout((8, 3, 1080, 1920), (3 * 1080 * 1920, 1, 3 * 1920, 3), "uint8", 1, "cpu", 0), (224, 224), "cubic",
    ),
    "planes at any address": (contiguous((32, 3, 941, 941), "uint8", 1), (10, 10), "lanczos"),
    "halves": (contiguous((8, 3, 1024, 1024), "uint8", 1), (512, 512), "linear"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("sm", TARGETS)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_bytes_are_multiplied_as_matrices_and_nothing_is_spilled(name: str, sm: int) -> None:
    layout, size, mode = PHOTOGRAPHS[name]
    given = resize_arguments.Arguments(size=size, axes=(2, 3), mode=mode, like="pillow")
    spec, _ = resize_arguments.checked(torch.empty(layout.shape, dtype=torch.uint8, device="meta"), given)
    order = (0, 2, 3, 1) if name == "pixels" else None
    made = windows.launches(layout, spec.maps(layout.shape, "uint8", True), order, rounding.EACH_AXIS)
    assert [step.kernel.function.__name__ for step in made.steps][0] == "byte_columns"
    for step in made.steps:
        kernel = step.kernel.compiled(GPUTarget("cuda", sm, 32))
        sass = kernel.asm["sass"]
        assert "LDG" in sass and not re.search(r"\b(LDL|STL)\b", sass)
        if step.kernel.function.__name__ == "byte_columns":
            assert re.search(r"mma\S*\.s8|tcgen05\.mma\S*i8", kernel.asm["ptx"])
            assert kernel.metadata.shared <= 48 << 10  # what a launch may have without asking the driver

"""How kernels start: what the core hands to CUDA's driver, here a function of the test."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from maps_of import resample
from tenter._arrays import torch_private
from tenter._arrays.errors import Refusal
from tenter._arrays.layout import Layout, contiguous
from tenter._specs.repeat import RepeatCounts
from tenter._triton import copies, driver, launch, prefix_sum, windows
from tenter._triton.launch import Kernel
from tenter.maps import Copy

VOID, UNSIGNED = ctypes.c_void_p, ctypes.c_uint
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, VOID, *[UNSIGNED] * 7, VOID, ctypes.POINTER(VOID), ctypes.POINTER(VOID))


class Driver:
    """CUDA's driver without a device: what it was told to start, with eight bytes of each argument, and what it
    answers. n_args: of each launch that is to come."""

    def __init__(self) -> None:
        self.n_args: list[int] = []
        self.started: list[tuple[tuple[int, ...], list[int]]] = []
        self.answers: list[int] = []
        self.entered: list[int] = []

        def launch_kernel(function: int, *rest: Any) -> int:
            *sizes, stream, arguments, extra = rest
            assert not extra
            values = [ctypes.cast(arguments[k], ctypes.POINTER(ctypes.c_int64))[0] for k in range(self.n_args.pop(0))]
            self.started.append(((function, *sizes, stream), values))
            return self.answers.pop(0) if self.answers else 0

        def error_name(error: int, to: Any) -> None:
            to._obj.value = b"CUDA_ERROR_OF_A_TEST"

        self.cuLaunchKernel = LAUNCH(launch_kernel)
        self.cuDevicePrimaryCtxRetain = lambda to, device: setattr(to._obj, "value", 100 + device)
        self.cuCtxSetCurrent = lambda context: self.entered.append(context.value)
        self.cuGetErrorName = error_name


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """The driver of a machine where device 0 is current, with kernels that Triton compiled."""
    told = Driver()
    current = [0]

    def exchange(device: int) -> int:
        current.append(device)
        return current[-2]

    def compiled(kernel: Kernel, device: int) -> Any:
        assert current[-1] == device
        its = {"num_warps": kernel.warps, "shared": 640, "global_scratch_size": 0, "launch_cooperative_grid": False}
        if kernel.warps > 1:
            its["profile_scratch_size"] = 0  # Triton 3.4 has none
        return SimpleNamespace(function=4096, metadata=SimpleNamespace(**its))

    monkeypatch.setattr(torch_private, "exchange_device", exchange)
    monkeypatch.setattr(torch_private, "current_stream", lambda device: 70 + device)
    monkeypatch.setattr(launch, "loaded", compiled)
    monkeypatch.setattr(driver, "_driver", lambda: told)
    yield told
    assert current[-1] == 0


def test_the_core_starts_kernels_with_the_numbers_of_the_call(started: Driver) -> None:
    of = lambda warps: Kernel(copies.copy, (), (), (), warps)
    first = driver.Launch(of(4), [(-1, 12), (0, 0), (1, 8), (-1, -5), (-1, 2**40)])
    second = driver.Launch(of(1), [(2, 1), (1, 0), (0, -8), (2, 0)])
    launcher = driver.Launcher(3, [first, second])
    for x, y, n in ((2**47, 2**46, 9), (16, 32, 2**31 - 2)):
        started.n_args = [6, 5]
        launcher.run(x, y, n)
        (one, two), started.started[:] = started.started[:], []
        assert one[0] == (4096, 12, 1, 1, 128, 1, 1, 640, 73) and two[0] == (4096, n + 1, 1, 1, 32, 1, 1, 640, 73)
        assert one[1] == [x, y + 8, -5, 2**40, 0, 0]  # two for Triton's scratch memory
        assert two[1] == [y, x - 8, n, 0, 0]


def test_threads_run_one_plan_at_once(started: Driver) -> None:
    launch = driver.Launch(Kernel(copies.copy, (), (), (), 4), [(-1, 1), (0, 0), (1, 0), (0, 5)])
    launcher = driver.Launcher(0, [launch, launch])
    started.n_args = [5] * 2000
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: launcher.run(n, 2 * n), range(1000)))
    assert sorted(values for _, values in started.started) == sorted([[n, 2 * n, n + 5, 0, 0] for n in range(1000)] * 2)


def test_a_thread_enters_the_context_and_other_errors_are_raised(started: Driver) -> None:
    launcher = driver.Launcher(3, [driver.Launch(Kernel(copies.copy, (), (), (), 4), [(-1, 1)])] * 2)
    started.answers, started.n_args = [driver.NO_CONTEXT], [2] * 9
    launcher.run()
    assert started.entered == [103] and len(started.started) == 3
    for answers, n in (([700], 1), ([0, 700], 2), ([201, 201], 2)):
        started.answers, started.started = answers, []
        with pytest.raises(Refusal, match="x: expected a device that starts kernels, got CUDA_ERROR_OF_A_TEST from"):
            launcher.run()
        assert len(started.started) == n


def test_plans_give_kernels_the_addresses_of_their_memory(started: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of two steps, with memory between them: what each step's kernel takes, except constants."""
    made = windows.launches(dense(2, 30, 40, 50), ((1, resample("linear", 30, 60)), (3, Copy.repeat_each(50, 3))))
    x, y = torch.zeros(2, 30, 40, 50), torch.zeros(2, 60, 40, 150)
    buffer = torch.zeros(sum(made.temporaries), dtype=torch.uint8)
    monkeypatch.setattr(made, "_buffer", lambda x: buffer)
    made.steps = [step._replace(args=tuple(map(addressed, step.args))) for step in made.steps]
    made.device, made.tables = torch.device("cuda", 3), []
    memories = {0: x.data_ptr(), 1: y.data_ptr()}
    memories |= {2 + k: buffer.data_ptr() + sum(made.temporaries[:k]) for k in range(len(made.temporaries))}
    wanted = []
    for step in made.steps:
        ends = [memories[step.source] + step.source_at, memories[step.target] + step.target_at]
        kinds = step.kernel.types
        wanted.append([v for v, kind in zip([*ends, *step.args], kinds, strict=True) if kind != "constexpr"] + [0, 0])
    started.n_args = [len(values) for values in wanted]
    made.run(x, y)
    assert len(wanted) > 1 and max(made.steps, key=lambda step: step.source).source > 1
    assert [values for _, values in started.started] == wanted
    assert [sizes[1] for sizes, _ in started.started] == [step.grid for step in made.steps]


def addressed(arg: Any) -> Any:
    """An argument as it is on a device, where tables are addresses."""
    return arg.data_ptr() if isinstance(arg, torch.Tensor) else arg


def test_offsets_of_counts_are_given_to_kernels(started: Driver) -> None:
    """Also to the same plan's next call, with other counts."""
    maps = RepeatCounts(torch.zeros(41, dtype=torch.int64), 0, 99).maps((40, 3), "float32", True)
    made = windows.launches(dense(40, 3), maps)
    (step,) = made.steps
    made.device = torch.device("cuda", 3)
    x, y = torch.zeros(40, 3), torch.zeros(99, 3)
    kinds = [kind for kind in step.kernel.types if kind != "constexpr"]
    for offsets in (torch.zeros(41, dtype=torch.int64), torch.ones(41, dtype=torch.int64)):
        started.n_args = [len(kinds) + 2]
        made.run(x, y, offsets)
        _, values = started.started.pop()
        assert values[:2] == [x.data_ptr(), y.data_ptr()] and values.count(offsets.data_ptr()) == 1


def test_prefix_sums_load_a_kernel_once_for_counts_of_a_kind(started: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind: dtype, alignment, block and checks. Lengths, strides, addresses and tickets change from call to call."""
    monkeypatch.setattr(prefix_sum, "_launchers", {})
    report, target = torch.zeros(4, dtype=torch.int64), lying(torch.int64, 4096)

    def run(counts: Any, n: int, step: int, ticket: int, verify: bool = True) -> None:
        started.n_args = [9]
        prefix_sum._run(1, (counts, target, None, report), (n, step, 10, ticket), (False, verify, 16))
        sizes, values = started.started.pop()
        assert sizes[1:5] == (1, 1, 1, 32)  # one warp for so few counts
        assert values == [counts.data_ptr(), 4096, report.data_ptr(), n, step, 10, ticket, 0, 0]

    for address, n, step in ((512, 5, 1), (1024, 9, 3)):
        run(lying(torch.int64, address), n, step, ticket=n)
    assert len(prefix_sum._launchers) == 1
    run(lying(torch.int64, 520), 5, 1, 1)
    run(lying(torch.int32, 512), 5, 1, 1)
    run(lying(torch.int64, 512), 5, 1, 1, verify=False)
    assert len(prefix_sum._launchers) == 4
    kernels = [launcher.launches[0].kernel for launcher in prefix_sum._launchers.values()]
    assert len(set(kernels)) == 4 and kernels[2].types[0] == "*i32" and not kernels[1].aligned[0]


def lying(dtype: torch.dtype, address: int) -> Any:
    return SimpleNamespace(device=torch.device("cuda", 3), dtype=dtype, data_ptr=lambda: address)


def dense(*shape: int) -> Layout:
    return Layout(shape, tuple(contiguous(shape, 4)), "float32", 4, "cpu", 0)

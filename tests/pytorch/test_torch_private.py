"""What is private of PyTorch is asked for what it does; where it does something else, results are right all the same."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import symbolic_shapes

import private_names
from tenter._arrays import oldest_versions, torch_private, torch_tensors
from tenter._torch import functions
from tenter._triton import driver

PROGRAM = Path(private_names.__file__)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(sys, "getswitchinterval") or sys.platform == "win32", reason="children are forked")
def test_results_are_right_whatever_private_name_is_missing_or_changed():
    cases = tuple(private_names.CASES)
    command = [sys.executable, "-W", "ignore", str(PROGRAM), *cases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.stdout.splitlines() == [f"ok {case}" for case in cases], done.stderr[-4000:]


def test_every_private_name_does_here_what_it_is_asked_for():
    """So the slower ways are for other versions, and none is taken unseen."""
    assert torch_private._told == dict.fromkeys(torch_private._told, True)
    assert torch_private.all_known and functions.goes_below
    assert functions._applies_bare and functions._replaces and torch_private._marks
    assert len(torch_private.ORDINARY_CUDA) == 2 and torch_private._context is torch._guards.TracingContext.try_get
    from tenter._torch import autograd

    torch.func.grad(torch.sum)(torch.ones(1))  # loads what is asked about
    assert autograd._by_levels(False) and autograd._by_levels(True)


def test_conditions_on_unknown_sizes_hold_only_where_they_always_do():
    """As PyTorch's own function answers, which 2.6 lacks."""
    unknown = symbolic_shapes.ShapeEnv().create_unbacked_symint()
    for size in (unknown, unknown * 2 + 1):
        for condition in (size < 0, size >= 0, size == 0, size != 1, size > 2**63 - 1, size < size):
            assert not torch_private._guarded(condition) and not torch_private.surely(condition), condition
        assert torch_private._guarded(size == size) and torch_private.surely(size == size)
    assert torch_private._guarded(7 > 1) and not torch_private._guarded(7 < 1)


def test_devices_are_exchanged_by_public_functions_too(monkeypatch):
    devices = [0]
    monkeypatch.setattr(torch.cuda, "current_device", lambda: devices[-1])
    monkeypatch.setattr(torch.cuda, "set_device", devices.append)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: type("Stream", (), {"cuda_stream": device + 7}))
    monkeypatch.setattr(torch_private, "exchange_device", torch_private._exchange_device)
    monkeypatch.setattr(torch_private, "current_stream", torch_private._current_stream)
    launcher, started = driver.Launcher(2, []), []
    launcher.loaded = type("Loaded", (), {"run": lambda _, *numbers: started.append((devices[-1], *numbers)) or 0})()
    launcher.run(5)
    assert started == [(2, 9, 5)]
    assert devices == [0, 2, 0]


@pytest.mark.parametrize(
    "found, lack",
    [(None, ""), ("3.3.1", ", not 3.3.1"), ("3.4.0", None), ("3.10.0+git1", None), ("", None)],
    ids=["no Triton", "an old one", "the oldest", "a newer one", "one without a version"],
)
def test_cuda_tensors_are_computed_by_triton_of_the_promised_version(found, lack, monkeypatch, tmp_path):
    origin = tmp_path / "__init__.py"
    origin.write_text(f'"""isort:skip_file"""\n__version__ = \'{found}\'\n' if found else "")
    spec = None if found is None else type("Spec", (), {"origin": str(origin)})
    monkeypatch.setattr(torch_tensors, "find_spec", {"triton": spec}.get)
    monkeypatch.setattr(torch_tensors, "WITHOUT_TRITON", torch_tensors._without_triton())
    with FakeTensorMode():
        x = torch.empty(3, device="cuda")
        oldest = ".".join(map(str, oldest_versions.OLDEST["Triton"]))
        expected = None if lack is None else f"a tensor on cuda, which needs Triton {oldest} or newer{lack}"
        assert torch_tensors.problem(x) == expected


def test_the_compiler_follows_checks_of_cuda_tensors():
    """Whether Triton is there is found when tenter is imported: the compiler cannot follow how."""
    with FakeTensorMode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.empty(3, device="cuda")
        follow = lambda x: x + 1 if torch_tensors.problem(x) is None else x
        assert torch.compile(follow, backend="eager", fullgraph=True)(x).device.type == "cuda"

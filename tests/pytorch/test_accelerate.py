"""tenter.torch.accelerate: unchanged code has tenter's calls and PyTorch's results; the rest is PyTorch's."""

from __future__ import annotations

import sys
import threading
import types
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tenter
import tenter.torch
from program_helpers import run_program
from sweeps import sampled
from tenter.torch import accelerate

IMAGE, ROWS = (2, 3, 6, 7), (4, 3)
COUNTS = torch.tensor([1, 0, 3, 2])

# name in the report, shape of x, the call as people write it
CALLS = {
    "torch.repeat_interleave": ("repeat_interleave", ROWS, lambda x: torch.repeat_interleave(x, 2, 1)),
    "counts": ("repeat_interleave", ROWS, lambda x: torch.repeat_interleave(x, COUNTS, dim=0)),
    "counts, output_size": ("repeat_interleave", ROWS, lambda x: torch.repeat_interleave(input=x, repeats=COUNTS, dim=0, output_size=6)),
    "method": ("repeat_interleave", ROWS, lambda x: x.repeat_interleave(3)),
    "method, counts": ("repeat_interleave", ROWS, lambda x: x.repeat_interleave(repeats=COUNTS, dim=0)),
    "method, axis": ("repeat_interleave", ROWS, lambda x: x.repeat_interleave(2, axis=-2)),
    "repeat": ("repeat", ROWS, lambda x: x.repeat(2, 1, 3)),
    "repeat, list": ("repeat", ROWS, lambda x: x.repeat([2, 1])),
    "repeat, keyword": ("repeat", ROWS, lambda x: x.repeat(repeats=(1, 2))),
    "torch.tile": ("tile", ROWS, lambda x: torch.tile(x, (2,))),
    "tile, keyword": ("tile", ROWS, lambda x: torch.tile(x, dims=(2, 2))),
    "method tile": ("tile", ROWS, lambda x: x.tile(2, 1)),
    "interpolate": ("interpolate", IMAGE, lambda x: F.interpolate(x, size=(9, 4))),
    "interpolate, scale": ("interpolate", IMAGE, lambda x: F.interpolate(x, scale_factor=(1.5, 2), mode="bicubic")),
    "interpolate, torch.Size": ("interpolate", IMAGE, lambda x: F.interpolate(x, size=x.shape[-2:][::-1], mode="area")),
    "antialias": ("interpolate", IMAGE, lambda x: F.interpolate(x, [3, 4], mode="bilinear", align_corners=False, antialias=True)),
    "upsample": ("interpolate", IMAGE, lambda x: F.upsample(x, scale_factor=2, mode="bilinear")),
    "upsample_nearest": ("interpolate", IMAGE, lambda x: F.upsample_nearest(x, scale_factor=2)),
    "upsample_bilinear": ("interpolate", IMAGE, lambda x: F.upsample_bilinear(x, size=(9, 9))),
    "nn.Upsample": ("interpolate", IMAGE, lambda x: nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=True)(x)),
    "nn.UpsamplingNearest2d": ("interpolate", IMAGE, lambda x: nn.UpsamplingNearest2d(scale_factor=2)(x)),
    "nn.UpsamplingBilinear2d": ("interpolate", IMAGE, lambda x: nn.UpsamplingBilinear2d(size=(3, 5))(x)),
}  # fmt: skip


def gradient(call, x):
    y = call(x)
    return y, torch.autograd.grad((y * torch.linspace(1, 2, y.numel(), dtype=y.dtype).view_as(y)).sum(), x)[0]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_unchanged_calls_are_computed_by_tenter(name):
    function, shape, call = CALLS[name]
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    want, gradient_wanted = gradient(call, x)
    with accelerate() as report:
        got, gradient_got = gradient(call, x)
    assert report.computed == {function: 1} and report.fallbacks == {}
    assert "tenter" not in repr(want.grad_fn)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradient_got, gradient_wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sampled(CALLS, len(CALLS)))
def test_unchanged_calls_are_computed_by_tenter_in_compiled_code(name):
    function, shape, call = CALLS[name]
    torch._dynamo.reset()
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    want, gradient_wanted = gradient(call, x)
    with accelerate() as report:
        compiled = torch.compile(lambda x: call(x), fullgraph=True, backend="aot_eager")
        got, gradient_got = gradient(compiled, x)
    # a graph knows tile as the repeat that it is
    assert report.computed == {"repeat" if function == "tile" else function: 1}
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradient_got, gradient_wanted, rtol=1e-12, atol=1e-12)


def test_everything_is_put_back():
    names = [(torch, "repeat_interleave"), (torch, "tile"), (torch.Tensor, "repeat_interleave"), (torch.Tensor, "repeat"),
             (torch.Tensor, "tile"), (F, "interpolate"), (F, "upsample"), (F, "upsample_nearest"), (F, "upsample_bilinear")]  # fmt: skip
    before = [getattr(holder, name) for holder, name in names]
    with pytest.raises(KeyError):
        with accelerate():
            assert all(getattr(h, n) is not b for (h, n), b in zip(names, before))
            raise KeyError
    assert all(getattr(h, n) is b for (h, n), b in zip(names, before))


def test_nesting_installing_and_decorating():
    x = torch.ones(2)
    assert not is_ours(x.repeat)
    tenter.torch.install()
    try:
        with accelerate():
            assert is_ours(x.repeat)
        assert is_ours(x.repeat)
    finally:
        tenter.torch.uninstall()
    assert not is_ours(x.repeat)
    with pytest.raises(RuntimeError, match="uninstall: expected an install before it"):
        tenter.torch.uninstall()

    @accelerate()
    def call():
        return is_ours(x.repeat)

    assert call() and call() and not is_ours(x.repeat)


def is_ours(repeat):
    before = tenter.torch.report().computed.get("repeat", 0)
    repeat(2)
    return tenter.torch.report().computed.get("repeat", 0) > before


def test_names_imported_before():
    module = types.ModuleType("imported_before")
    exec("from torch.nn.functional import interpolate as resize\nfrom torch import tile", module.__dict__)
    sys.modules["imported_before"] = module
    try:
        with accelerate() as report:
            module.resize(torch.ones(1, 1, 3), 2)
            module.tile(torch.ones(2), (2,))
        assert report.computed == {"interpolate": 1, "tile": 1}
        module.resize, tile = print, module.tile  # taken by other code meanwhile, or gone
        del module.tile
        with accelerate():
            assert module.resize is print and not hasattr(module, "tile")
        module.resize, module.tile = F.interpolate, tile
        assert module.resize is F.interpolate and module.tile is torch.tile
    finally:
        del sys.modules["imported_before"]


def test_other_calls_are_pytorchs_and_counted():
    sparse = torch.eye(3).to_sparse()
    with accelerate() as report:
        with pytest.raises(RuntimeError, match="Number of dimensions of repeat dims can not be smaller"):
            torch.ones(2, 2).repeat(2)
        with pytest.raises(NotImplementedError, match="Only 3D, 4D and 5D"):
            F.interpolate(torch.ones(1, 1, 2), 4, mode="bogus")
        with pytest.raises((RuntimeError, NotImplementedError)):
            sparse.repeat(2, 2)
        assert torch.repeat_interleave(repeats=torch.tensor([1, 2])).tolist() == [0, 1, 1]
    assert report.computed == {"repeat_interleave": 1}
    assert report.fallbacks == {
        "repeat": {
            "sizes: expected at least 2 numbers, one per dim of x, got 1": 1,
            "a sparse_coo tensor": 1,
        },
        "interpolate": {"mode: expected one of nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area, lanczos, got 'bogus'": 1},
    }  # fmt: skip
    text = str(report)
    assert "repeat                     0           2" in text and "1 times: a sparse_coo tensor" in text


def test_bad_counts_do_not_reach_pytorch():
    with accelerate() as report:
        for bad in (torch.tensor([1, 2]), torch.tensor([1, -1, 2])):
            with pytest.raises(ValueError, match="repeats: expected"):
                torch.repeat_interleave(torch.ones(3), bad)
        with pytest.raises(ValueError, match="output_size: expected 6"):
            torch.ones(3).repeat_interleave(torch.tensor([1, 2, 3]), output_size=4)
    assert report.computed == report.fallbacks == {}


def test_subclasses_with_rules_keep_them():
    seen = []

    class Watching(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    interpolate = F.interpolate
    with accelerate() as report:
        y = F.interpolate(torch.ones(1, 1, 3).as_subclass(Watching), 2)
    assert interpolate in seen and isinstance(y, Watching)
    name = f"test_accelerate.{Watching.__qualname__}"
    assert list(report.fallbacks["interpolate"]) == [f"a {name}, which overrides `__torch_function__`"]


def test_the_report_counts_what_happened_inside():
    x = torch.ones(2)
    with accelerate() as outer:
        x.repeat(2)
        with accelerate() as inner:
            x.repeat(2), x.tile(2)
        x.repeat(2)
    assert inner.computed == {"repeat": 1, "tile": 1} and outer.computed == {"repeat": 3, "tile": 1}


def test_names_bound_meanwhile_are_put_back():
    module = types.ModuleType("imported_meanwhile")
    try:
        with accelerate():
            sys.modules["imported_meanwhile"] = module
            exec("from torch.nn.functional import interpolate\nfrom torch import tile", module.__dict__)
            assert module.interpolate is F.interpolate
        assert module.interpolate is F.interpolate and module.tile is torch.tile
    finally:
        del sys.modules["imported_meanwhile"]


def test_a_patch_of_other_code_is_left_alone():
    original = F.interpolate
    try:
        with accelerate():
            F.interpolate = print
        assert F.interpolate is print
    finally:
        F.interpolate = original


class Ruled(torch.Tensor):
    """With rules of its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("call", sampled([
    lambda x: x.repeat(repeats=(2, 2)), lambda x: x.repeat(2, 2), lambda x: x.repeat([2, 2]), lambda x: x.tile(2, 2),
    lambda x: x.tile((2,)), lambda x: x.tile(dims=(2,)), lambda x: x.repeat_interleave(2, dim=1), lambda x: torch.tile(x, (2,)),
], 4))  # fmt: skip
def test_what_goes_on_to_pytorch_from_compiled_code(call):
    """In every spelling of its own."""
    torch._dynamo.reset()
    x = torch.rand(2, 3)
    with accelerate() as report:
        got = torch.compile(call, backend="eager")(x.as_subclass(Ruled))
    assert isinstance(got, Ruled) and torch.equal(got.as_subclass(torch.Tensor), call(x))
    assert not report.computed


def test_compiled_code_follows():
    torch._dynamo.reset()
    x = torch.rand(1, 1, 4)
    calls = [lambda x: F.interpolate(x, 8), lambda x: x.repeat(2, 1, 1), lambda x: torch.repeat_interleave(x, 2, 0)]
    for call in calls:
        compiled = torch.compile(call, backend="eager")
        compiled(x)
        for _ in range(2):
            with accelerate() as report:
                compiled(x)
            assert sum(report.computed.values()) == 1
            before = tenter.torch.report().computed
            compiled(x)
            assert tenter.torch.report().computed == before


def test_traces_record_pytorchs_functions():
    x = torch.rand(1, 2, 3)
    with accelerate():
        traced = torch.jit.trace(lambda x: F.interpolate(x, scale_factor=2.0), x)
        symbolic = torch.fx.symbolic_trace(lambda x: F.interpolate(x, scale_factor=2.0))
    assert traced(torch.rand(1, 4, 7)).shape == symbolic(torch.rand(1, 4, 7)).shape == (1, 4, 14)
    assert F.interpolate in [node.target for node in symbolic.graph.nodes]


def test_reasons_have_a_bound(monkeypatch):
    monkeypatch.setattr(sys.modules["tenter.torch.report"], "_fallbacks", Counter())  # other tests need room for theirs
    with accelerate() as report:
        for n in range(1, 400):
            with pytest.raises(RuntimeError):
                torch.ones([1] * (n % 40 + 2)).repeat(*[1] * (n % 7 % (n % 40 + 1) + 1))
    assert sum(len(reasons) for reasons in report.fallbacks.values()) <= 201


def test_it_holds_in_other_threads_too():
    found = []
    with accelerate():
        thread = threading.Thread(target=lambda: found.append(is_ours(torch.ones(2).repeat)))
        thread.start()
        thread.join()
    assert found == [True]


@pytest.mark.slow
def test_hostile_input_ends_in_an_exception():
    """In a process of its own, so that a crash is seen."""
    done = run_program("hostile_torch.py", 1, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stdout[-500:], done.stderr[-1500:])


def test_pixels_change_by_no_more_than_the_page_says():
    """docs/pytorch.md: bilinear by one at most; bicubic pixels are then within one of the exact result."""
    generator = torch.Generator().manual_seed(0)
    for trial in range(24):
        h, w, *size = torch.randint(1, 60, (4,), generator=generator).tolist()
        x = torch.randint(0, 256, (1, 3, h, w), generator=generator, dtype=torch.uint8)
        for antialias in (False, True) if min(size) > 1 else (False,):  # PyTorch is wrong for one pixel, with antialias
            theirs = F.interpolate(x, size, mode="bilinear", antialias=antialias)
            with accelerate():
                ours = F.interpolate(x, size, mode="bilinear", antialias=antialias)
            assert (ours.int() - theirs.int()).abs().max() <= 1, (trial, antialias)
        exact = F.interpolate(x.double(), size, mode="bicubic").round().clamp(0, 255)
        with accelerate():
            assert (F.interpolate(x, size, mode="bicubic") - exact).abs().max() <= 1, trial

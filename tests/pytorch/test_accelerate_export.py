"""Under install(), exporters and scripts: what PyTorch does with the source or the graph of what is called."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tenter.torch import accelerate
from thread_helpers import in_threads

COUNTS = torch.tensor([1, 0, 3, 2])

# ---- what PyTorch does with the source or the graph of what is called


class Upscaling(torch.nn.Module):
    def __init__(self, mode: str, corners: bool | None = None):
        super().__init__()
        self.up = torch.nn.Upsample(scale_factor=2, mode="nearest")
        self.mode, self.corners = mode, corners

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.interpolate(self.up(x), scale_factor=1.5, mode=self.mode, align_corners=self.corners)
        y = torch.tile(y, (1, 2, 1, 1)).repeat(2, 1, 1, 1)
        return torch.repeat_interleave(y, 2, dim=3)


EXPORTED = [(True, "bilinear", False), (False, "nearest", None), (True, "bicubic", True)]
EXPORTED += [(False, "bilinear", False), (True, "nearest", None), (False, "bicubic", True)]


@pytest.mark.slow  # `test_torch_onnx.test_sizes_that_change` exports what tenter computes
@pytest.mark.parametrize("dynamo, mode, corners", EXPORTED)
def test_exported_to_onnx_with_the_same_values(dynamo, mode, corners, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    x = torch.rand(1, 3, 4, 6)
    model, file = Upscaling(mode, corners).eval(), tmp_path / "model.onnx"
    with accelerate() as report:
        want = model(x)
        calls = dict(report.computed)
        assert calls == {"interpolate": 2, "tile": 1, "repeat": 1, "repeat_interleave": 1}
        torch.onnx.export(model, (x,), file, dynamo=dynamo, **({"verbose": False} if dynamo else {}))
        assert report.computed == calls
    session = runtime.InferenceSession(file)
    (got,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert got.shape == want.shape and np.allclose(got, want, atol=2e-6)


def scripted(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    y = F.interpolate(x, size=[5, 7], mode="nearest")
    y = F.interpolate(y, scale_factor=2.0, mode="nearest").repeat(1, 2, 1, 1)
    return torch.repeat_interleave(torch.tile(y, [1, 1, 1, 2]), counts, dim=2)


def test_script_sees_pytorchs_own():
    x, counts = torch.rand(1, 2, 4, 6), torch.arange(10)
    with accelerate() as report:
        stand_in = F.interpolate
        function, module = torch.jit.script(scripted), torch.jit.script(Upscaling("bilinear"))
        assert F.interpolate is stand_in and torch.tile(x, (1,)) is not None and report.computed == {"tile": 1}
        with pytest.raises(RuntimeError):
            torch.jit.script(lambda x: nothing_of_this_name(x))  # noqa: F821
        assert F.interpolate is stand_in

        @torch.jit.script
        def decorated(x: torch.Tensor) -> torch.Tensor:
            return F.interpolate(x, scale_factor=2.0)

        @torch.jit.script_if_tracing
        def when_traced(x: torch.Tensor) -> torch.Tensor:
            return F.interpolate(x, scale_factor=2.0)

        traced = torch.jit.trace(lambda x: when_traced(x), x)
        assert torch.equal(function(x, counts), scripted(x, counts))
        assert torch.allclose(module(x), Upscaling("bilinear")(x), atol=1e-6)
        assert torch.equal(decorated(x), traced(x)) and torch.equal(decorated(x), F.interpolate(x, scale_factor=2.0))
    assert F.interpolate is not stand_in and torch.jit.script.__module__ == "torch.jit._script"


def test_script_while_others_script_install_and_uninstall():
    own = F.interpolate

    def work(k):
        for _ in range(3):
            with accelerate():
                source = scripted if k % 2 else Upscaling("bilinear")
                torch.jit.script(source)

    in_threads(work, [(k,) for k in range(4)])
    assert F.interpolate is own

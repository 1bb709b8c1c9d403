"""Exporters beside PyTorch's own function: what it exports and runs at another shape, tenter does too."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging

import pytest
import torch
import torch.nn.functional as F

import tenter
import tenter.torch
from sweeps import sampled

pytestmark = [
    pytest.mark.usefixtures("fresh_compiler"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning", "ignore::UserWarning"),
]
X = torch.rand(2, 3, 8, 12, generator=torch.Generator().manual_seed(0))
# All lengths change, to odd ones too.
OTHERS = [torch.rand(3, 3, 33, 27, generator=torch.Generator().manual_seed(1)), torch.rand(1, 3, 16, 45)]

CALLS = {
    "sizes": lambda x: {"size": (9, 7)},
    "one size": lambda x: {"size": 8},
    "sizes of a multiple": lambda x: {"size": (2 * x.shape[2], 3 * x.shape[3])},
    "sizes of a half": lambda x: {"size": (x.shape[2] // 2, x.shape[3] // 2)},
    "sizes of x": lambda x: {"size": x.shape[2:]},
    "twice": lambda x: {"scale_factor": 2},
    "twice, a float": lambda x: {"scale_factor": 2.0},
    "factors": lambda x: {"scale_factor": (2, 3)},
    "half": lambda x: {"scale_factor": 0.5},
    "a fraction": lambda x: {"scale_factor": 1.5},
    "fractions": lambda x: {"scale_factor": (1.7, 0.6)},
    "twice, recomputed": lambda x: {"scale_factor": 2, "recompute_scale_factor": True},
    "half, recomputed": lambda x: {"scale_factor": 0.5, "recompute_scale_factor": True},
    "a fraction, recomputed": lambda x: {"scale_factor": 1.5, "recompute_scale_factor": True},
}
MODES = {
    "nearest": {},
    "nearest-exact": {"mode": "nearest-exact"},
    "bilinear": {"mode": "bilinear"},
    "corners": {"mode": "bilinear", "align_corners": True},
    "bicubic": {"mode": "bicubic"},
    "area": {"mode": "area"},
    "bilinear, antialias": {"mode": "bilinear", "antialias": True},
    "bicubic, antialias": {"mode": "bicubic", "antialias": True},
    "corners, antialias": {"mode": "bilinear", "align_corners": True, "antialias": True},
}


def pytorchs(x, **how):
    return F.interpolate(x, **how)


def layer(x, antialias=False, **how):
    """A layer has no antialias."""
    return tenter.interpolate(x, antialias=True, **how) if antialias else tenter.torch.Upsample(**how)(x)


FUNCTIONS = {"tenter": tenter.interpolate, "accelerate": pytorchs, "Upsample": layer}


class Model(torch.nn.Module):
    def __init__(self, function, call, modes):
        super().__init__()
        self.function, self.call, self.modes = function, CALLS[call], [MODES[mode] for mode in modes]

    def forward(self, x):
        return tuple(self.function(x, **self.call(x), **how) for how in self.modes)


def of_export(model, *dims):
    changing = None if not dims else ({0: dims[0], 2: dims[1], 3: dims[2]},)
    return torch.export.export(model, (X,), dynamic_shapes=changing).module()


def named(model, **bounds):
    dim = torch.export.Dim
    return of_export(model, dim("b"), dim("h", **bounds), dim("w", **bounds))


def of_onnx(model, **how):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    file = io.BytesIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        made = torch.onnx.export(model, (X,), **({"verbose": False} if how["dynamo"] else {"f": file}), **how)
        if made is not None:
            made.save(file)
    session = runtime.InferenceSession(file.getvalue())
    name = session.get_inputs()[0].name
    return lambda x: [torch.from_numpy(y) for y in session.run(None, {name: x.numpy()})]


ANY = torch.export.Dim.DYNAMIC
CHANGING = {"input_names": ["x"], "dynamic_axes": {"x": {0: "b", 2: "h", 3: "w"}}, "opset_version": 18}
EXPORTERS = {
    "trace": lambda model: torch.jit.trace(model, (X,), check_trace=False),
    "compile": lambda model: torch.compile(model, fullgraph=True, dynamic=True, backend="aot_eager"),
    "export": of_export,
    "export, named dims": named,
    "export, dims with a minimum": lambda model: named(model, min=4),
    "export, dims with bounds": lambda model: named(model, min=4, max=4096),
    "export, dims with a maximum": lambda model: named(model, max=4096),
    "export, automatic dims": lambda model: of_export(model, *[torch.export.Dim.AUTO] * 3),
    "onnx": lambda model: of_onnx(model, dynamo=True, dynamic_shapes=({0: ANY, 2: ANY, 3: ANY},)),
    "onnx, fixed": lambda model: of_onnx(model, dynamo=True),
    "onnx of a trace": lambda model: of_onnx(model, dynamo=False, **CHANGING),
    "onnx of a trace, fixed": lambda model: of_onnx(model, dynamo=False, opset_version=18),
}
FIXED = ("export", "onnx, fixed", "onnx of a trace, fixed")
SILENT = logging.getLogger("torch")


def outcome(exporter, name, call, *modes):
    """ "" if the exported program gives what the function gives at other shapes too, and else the reason: "wrong ..."
    or an error."""
    model = Model(FUNCTIONS.get(name, pytorchs), call, modes)
    torch._dynamo.reset()
    with tenter.torch.accelerate() if name == "accelerate" else contextlib.nullcontext():
        return run(exporter, model, modes)


def run(exporter, model, modes):
    try:
        program = EXPORTERS[exporter](model)
        for x in [X] if exporter in FIXED else [X, *OTHERS]:
            for mode, got, want in zip(modes, program(x), model(x)):
                if got.shape != want.shape or not torch.allclose(got, want, atol=1e-5):
                    return f"wrong: {mode} at {tuple(x.shape)}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


ALL = list(itertools.product(EXPORTERS, FUNCTIONS, CALLS))
DEFAULT = [
    ("trace", "tenter", "half"),
    ("trace", "tenter", "sizes of a multiple"),
    ("trace", "Upsample", "a fraction, recomputed"),
    ("export, named dims", "tenter", "twice"),
    ("export, dims with a maximum", "tenter", "a fraction"),
]


@pytest.mark.parametrize("exporter, name, call", sampled(ALL, len(ALL) + 1, "-".join, lambda p: p in DEFAULT))
def test_what_pytorchs_function_exports_tenters_does_and_never_gives_other_values(exporter, name, call):
    """Where PyTorch's own export fails or gives other values, ours is right or raises an error."""
    level = SILENT.level
    SILENT.setLevel(logging.CRITICAL)
    try:
        if not outcome(exporter, name, call, *MODES):
            return
        for mode in MODES:  # alone, as one that fails takes the others with it
            ours = outcome(exporter, name, call, mode)
            if ours:
                theirs = outcome(exporter, "PyTorch", call, mode)
                assert theirs, f"{mode}: {ours}"
                # Under accelerate() these exporters see PyTorch's own function.
                assert not ours.startswith("wrong") or name == "accelerate" or "trace" in exporter, f"{mode}: {ours}"
    finally:
        SILENT.setLevel(level)

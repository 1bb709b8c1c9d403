"""Modules that call tenter are exported to ONNX, and onnxruntime gives what they give, for sizes that change too."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
import tenter.torch

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
ANY = torch.export.Dim.DYNAMIC
PHOTO = torch.rand(1, 3, 8, 10)

TABLE = torch.rand(1, 2, 7, 7)

FIXED = {
    "bilinear": lambda x: tenter.interpolate(x, (5, 7), mode="bilinear"),
    "nearest-exact": lambda x: tenter.interpolate(x, (5, 7), mode="nearest-exact"),
    "bicubic, antialias": lambda x: tenter.interpolate(x, (5, 7), mode="bicubic", antialias=True),
    "area": lambda x: tenter.interpolate(x, (4, 5), mode="area"),
    "lanczos": lambda x: tenter.interpolate(x, (4, 5), mode="lanczos", antialias=True),
    "a layer": tenter.torch.Upsample(scale_factor=2, mode="bicubic"),
    "resize of channels": lambda x: tenter.resize(x, 5, axes=1, mode="cubic", like="pillow"),
    "a box": lambda x: tenter.resize(x, 5, axes=2, box=[(0.5, 6)]),
    "a periodic edge": lambda x: tenter.resize(x, 20, axes=2, mode="cubic", edge="wrap"),
    "labels": lambda x: tenter.resize((x * 9).to(torch.int64), (5, 7), axes=(-2, -1), mode="nearest-exact").to(torch.float32),
    "counts in a list": lambda x: tenter.repeat_interleave(x, [1, 0, 2], dim=1),
    "a map": lambda x: tenter.axis_map(8, 5, "area").apply(x, 2),
}  # fmt: skip
CHANGING = {
    "bilinear by a scale": lambda x: tenter.interpolate(x, scale_factor=2, mode="bilinear"),
    "nearest by a scale": lambda x: tenter.interpolate(x, scale_factor=2),
    "antialias to a size": lambda x: tenter.interpolate(x, (5, 7), mode="bilinear", antialias=True),
    "resize to a size": lambda x: tenter.resize(x, (5, 7), axes=(-2, -1)),
    "resize by a scale": lambda x: tenter.resize(x, scale=2, axes=(-2, -1)),
    "antialias by a half": lambda x: tenter.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True),
    "each element twice": lambda x: tenter.repeat_interleave(x, 2, dim=2),
    "the whole twice": lambda x: tenter.repeat(x, 2, 1, 2, 1),
    "tiles": lambda x: tenter.tile(x, (2,)),
}
# In runtimes other than in PyTorch, and computed in the graph.
COMPUTED = {
    "a table of known lengths": lambda x: tenter.interpolate(
        TABLE, (x.shape[2] // 2, x.shape[3] // 2), mode="bilinear", antialias=True
    ),
    "area by a half": lambda x: tenter.interpolate(x, scale_factor=0.5, mode="area"),
    "nearest by fractions": lambda x: tenter.interpolate(x, scale_factor=(1.7, 0.6)),
    "nearest-exact by fractions": lambda x: tenter.interpolate(x, scale_factor=(1.05, 2.05), mode="nearest-exact"),
    "nearest that keeps lengths": lambda x: tenter.interpolate(x, scale_factor=(1.05, 2.05)),
    "antialias, corners": lambda x: tenter.interpolate(x, 5, mode="bilinear", align_corners=True, antialias=True),
    "antialias, one output": lambda x: tenter.interpolate(x, 1, mode="bilinear", align_corners=True, antialias=True),
    "lanczos of rows": lambda x: tenter.resize(x, 5, axes=2, mode="lanczos", antialias=True),
    "lanczos by a scale": lambda x: tenter.resize(x, scale=0.6, axes=(2, 3), mode="lanczos", antialias=True),
    "trilinear": lambda x: tenter.interpolate(x[None], scale_factor=(1, 0.5, 0.7), mode="trilinear", antialias=True),
    "bytes": lambda x: tenter.interpolate((x * 255).to(torch.uint8), scale_factor=1.5, mode="bilinear").to(torch.float32),
    "labels": lambda x: tenter.interpolate((x * 9).to(torch.int64), scale_factor=1.5).to(torch.float32),
}  # fmt: skip


class All(torch.nn.Module):
    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def forward(self, *x):
        return tuple(call(*x) for call in self.calls.values())


def session(calls, given, path, shapes=None):
    """The exported calls; shapes: of each input the dims that may change."""
    changing = None if shapes is None else (tuple(dict.fromkeys(dims, ANY) for dims in shapes),)
    torch.onnx.export(All(calls), given, path, dynamo=True, verbose=False, dynamic_shapes=changing)
    return runtime.InferenceSession(path)


def compare(made, calls, given):
    found = made.run(None, {each.name: x.numpy() for each, x in zip(made.get_inputs(), given)})
    for name, got, want in zip(calls, found, All(calls)(*given)):
        most = 1 if name == "bytes" else 3e-6  # whose weights are rounded to 14 bits in eager calls
        assert got.shape == tuple(want.shape) and np.allclose(got, want, atol=most), name


@pytest.mark.slow
def test_sizes_that_are_fixed(tmp_path):
    compare(session(FIXED, (PHOTO,), tmp_path / "model.onnx"), FIXED, (torch.rand(1, 3, 8, 10),))


def test_sizes_that_change(tmp_path):
    made = session(CHANGING, (PHOTO,), tmp_path / "model.onnx", [(0, 2, 3)])
    for shape in ((1, 3, 8, 10), (2, 3, 9, 13), (4, 3, 31, 6)):
        compare(made, CHANGING, (torch.rand(shape),))


BYTES = {
    "bilinear": lambda x: tenter.interpolate(x, (17, 9), mode="bilinear", antialias=True),
    "a filter with negative lobes": lambda x: tenter.resize(x, (9, 60), axes=(-2, -1), mode="lanczos", like="pillow"),
    "rows first": lambda x: tenter.resize(x, (3, 39), axes=(-2, -1), mode="cubic", like="pillow"),
    "a box": lambda x: tenter.resize(x, (9, 7), axes=(-2, -1), box=[(0.5, 30), (2, 31.2)], antialias=True),
    "a periodic edge": lambda x: tenter.resize(x, 5, axes=2, mode="cubic", edge="wrap", antialias=True),
    "a copied axis": lambda x: tenter.interpolate(x, scale_factor=(0.5, 1.01), mode="bicubic", antialias=True),
}  # fmt: skip


@pytest.mark.slow
def test_antialiased_8_bit_images_have_the_bits_of_eager_calls(tmp_path):
    rng = np.random.default_rng(3)
    x, extremes = (torch.from_numpy(rng.integers(0, most, (2, 3, 40, 41), np.uint8)) for most in (256, 2))
    made = session(BYTES, (x,), tmp_path / "model.onnx")
    for given in (x, extremes * 255):
        for name, got, want in zip(
            BYTES, made.run(None, {made.get_inputs()[0].name: given.numpy()}), All(BYTES)(given)
        ):
            assert np.array_equal(got, want), name


@pytest.mark.slow
def test_sizes_that_change_where_runtimes_compute_other_values(tmp_path):
    made = session(COMPUTED, (PHOTO,), tmp_path / "model.onnx", [(0, 2, 3)])
    for shape in ((1, 3, 8, 10), (2, 3, 9, 13), (4, 3, 31, 6), (1, 3, 90, 81)):
        compare(made, COMPUTED, (torch.rand(shape),))


@pytest.mark.slow
def test_counts_whose_sum_changes(tmp_path):
    calls = {
        "counts": lambda x, c: tenter.repeat_interleave(x, c, dim=1),
        "elsewhere": lambda x, c: tenter.repeat_interleave(x[0, :, 0, 0], c) * 2,
    }
    made = session(calls, (PHOTO, torch.tensor([1, 0, 2])), tmp_path / "model.onnx")
    for counts in ([1, 0, 2], [3, 1, 4], [0, 0, 1]):
        compare(made, calls, (torch.rand(1, 3, 8, 10), torch.tensor(counts)))


@pytest.mark.slow
def test_a_rule_that_onnx_lacks_needs_lengths_that_are_known(tmp_path):
    calls = {"a box": lambda x: tenter.resize(x, 5, axes=2, box=[(0.5, 6)])}
    with pytest.raises(Exception, match="x: expected lengths that are known at export"):
        session(calls, (PHOTO,), tmp_path / "model.onnx", [(2,)])
    calls = {"a box": lambda x: tenter.resize(TABLE, x.shape[2], axes=2, box=[(0.5, 6)])}
    with pytest.raises(Exception, match="size: expected sizes that are known at export"):
        session(calls, (PHOTO,), tmp_path / "model.onnx", [(2,)])

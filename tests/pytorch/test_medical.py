"""nnU-Net and TorchIO with tenter's resampling: examples/nnunet_resampling.py and examples/torchio_resampling.py.

Tests skip where a package is not installed: CONTRIBUTING.md has the command that installs both.
"""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest

from roots import ROOT

EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.slow
# Spacings, old and new: alike in all directions, and apart, which nnU-Net resizes slice by slice.
CUBES, SLICES = ((1.0, 1.0, 1.0), (0.8, 0.7, 1.3)), ((5.0, 0.9, 1.0), (3.0, 1.1, 0.8))


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """nnU-Net's functions for data and labels: its own, and those that a configuration names."""
    nnunet = pytest.importorskip("nnunetv2")
    from nnunetv2.preprocessing import resampling
    from nnunetv2.utilities.plans_handling.plans_handler import ConfigurationManager

    folder = tmp_path / "preprocessing" / "resampling"
    shutil.copytree(resampling.__path__[0], folder)  # as its user would, without a change of what is installed
    shutil.copy(EXAMPLES / "nnunet_resampling.py", folder)
    monkeypatch.setattr(nnunet, "__path__", [str(tmp_path), *nnunet.__path__])
    monkeypatch.setattr(resampling, "__path__", [str(folder)])

    def functions(name):
        how = {"order_z": 0, "force_separate_z": None}
        return ConfigurationManager({"architecture": {},
            "resampling_fn_data": name, "resampling_fn_data_kwargs": {"is_seg": False, "order": 3, **how},
            "resampling_fn_seg": name, "resampling_fn_seg_kwargs": {"is_seg": True, "order": 1, **how},
        })  # fmt: skip

    return functions("resample_data_or_seg_to_shape"), functions("resample_by_tenter")


@pytest.mark.parametrize("spacings", [CUBES, SLICES], ids=["cubes", "slices"])
@pytest.mark.parametrize("size", [(24, 50, 47), (60, 31, 64)])
def test_nnunets_configuration_gives_its_values_by_tenter(configured, spacings, size):
    its, ours = configured
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((2, 40, 44, 36)).astype(np.float32)
        want, got = its.resampling_fn_data(x, size, *spacings), ours.resampling_fn_data(x, size, *spacings)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert np.abs(got - want).max() <= 1e-4 * np.ptp(x)


@pytest.mark.parametrize("spacings", [CUBES, SLICES], ids=["cubes", "slices"])
@pytest.mark.parametrize("size", [(24, 50, 47), (60, 31, 64), (20, 22, 18)])
def test_nnunets_configuration_gives_its_labels_by_tenter(configured, spacings, size):
    its, ours = configured
    # Noise has more ties than cells: which of two equal shares is larger is then a matter of rounding.
    for block, least in ((1, 0.999), (4, 0.9999)):
        labels = np.random.default_rng(block).integers(-1, 4, (1, 40 // block, 44 // block, 36 // block), np.int8)
        for axis in (1, 2, 3):
            labels = np.repeat(labels, block, axis)
        want, got = its.resampling_fn_seg(labels, size, *spacings), ours.resampling_fn_seg(labels, size, *spacings)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert (got == want).mean() >= least


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 0.7, 1.9), (0.5, 3.1, 3.0)])
def test_torchio_resamples_to_the_same_grid_and_values(spacing, monkeypatch):
    torchio = pytest.importorskip("torchio")
    import torch

    monkeypatch.setattr(sys, "path", [*sys.path, str(EXAMPLES)])
    from torchio_resampling import resample

    scan = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 31, 40, 22)).astype(np.float32))
    at = np.array([[0, -0.8, 0, 7], [1.1, 0, 0, -20], [0, 0, 3.0, 5], [0, 0, 0, 1.0]])
    image = torchio.ScalarImage(tensor=scan, affine=at)
    want, got = torchio.Resample(spacing, image_interpolation="bspline")(image), resample(image, spacing)
    np.testing.assert_allclose(got.affine, want.affine, rtol=0, atol=1e-12)
    apart = np.abs(got.data.numpy() - want.data.numpy()).max()
    assert apart <= 1e-5 * np.ptp(scan.numpy())

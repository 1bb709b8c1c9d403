"""examples/train_images.py trains."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
import torch

from roots import ROOT

pytest.importorskip("PIL.Image")
QUICK = ["--backend", "eager", "--amp", "--photos", "16", "--batch", "4", "--size", "32", "--epochs", "2"]


def example():
    spec = importlib.util.spec_from_file_location("train_images", ROOT / "examples" / "train_images.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_loader_and_its_model_fit_together(tmp_path):
    its = example()
    its.make_photos(tmp_path, 4)
    batch = next(iter(torch.utils.data.DataLoader(its.Photos(tmp_path, 32), 4)))
    assert batch.shape == (4, 3, 32, 32) and -2 <= batch.min() < batch.max() <= 2
    torch.manual_seed(0)
    model = its.UNet(4)
    before = torch.nn.functional.mse_loss(model(batch), batch)
    before.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert [name for name, _ in model.named_modules() if "up" in name] == ["up"] and "up" not in str(model.state_dict())


@pytest.mark.slow
def test_two_processes_train(tmp_path):
    program = [sys.executable, "-W", "ignore", ROOT / "examples" / "train_images.py", *QUICK]
    out = subprocess.run(program, capture_output=True, text=True, timeout=300, check=True).stdout
    errors = [float(line.split()[-1]) for line in out.splitlines() if line.startswith("epoch")]
    assert len(errors) == 2 and errors[1] < errors[0]

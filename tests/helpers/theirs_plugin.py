"""A pytest plugin under which another library's own tests run with tenter in the place of PyTorch's functions: see
theirs.py."""

import importlib
import json
import os
from pathlib import Path

outcomes = {}


def replace_resize_of_albumentations(module):
    """albucore's takes (width, height), or factors beside (0, 0)."""
    import cv2

    import tenter

    theirs = module.resize
    modes = {cv2.INTER_NEAREST: "nearest", cv2.INTER_LINEAR: "linear", cv2.INTER_CUBIC: "cubic", cv2.INTER_AREA: "area"}

    def resize(img, size, *args, **kwargs):
        flag = args[-1] if args else kwargs.get("interpolation", cv2.INTER_LINEAR)
        if flag not in modes or 0 in (*size, *img.shape):
            return theirs(img, size, *args, **kwargs)
        size = size[::-1] if module.__name__.startswith("albucore") else size
        return tenter.resize(img, size, axes=(0, 1), mode=modes[flag], like="opencv")

    module.resize = resize


def pytest_configure(config):
    how = os.environ["TENTER_THEIRS"]
    if how.startswith("albu"):
        replace_resize_of_albumentations(importlib.import_module(how))
    elif how == "torch":
        import tenter.torch

        tenter.torch.install()


def pytest_runtest_logreport(report):
    if report.failed or (report.when == "call" and report.passed):
        outcomes[report.nodeid] = report.outcome


def pytest_collectreport(report):
    if report.failed:
        outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish(session):
    counted = {"outcomes": outcomes, "computed": {}, "fallbacks": {}}
    if os.environ["TENTER_THEIRS"] == "torch":
        import tenter.torch

        report = tenter.torch.report()
        counted |= {"computed": report.computed, "fallbacks": report.fallbacks}
    Path(os.environ["TENTER_THEIRS_REPORT"]).write_text(json.dumps(counted))

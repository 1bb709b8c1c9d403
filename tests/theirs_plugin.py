"""A pytest plugin under which another library's own tests run with tenter in the place of PyTorch's functions: see
theirs.py."""

import json
import os
from pathlib import Path

outcomes = {}


def replace_resize_of_albumentations():
    import cv2
    from albumentations.augmentations.geometric import functional

    import tenter

    theirs = functional.resize
    modes = {cv2.INTER_NEAREST: "nearest", cv2.INTER_LINEAR: "linear", cv2.INTER_CUBIC: "cubic", cv2.INTER_AREA: "area"}

    def resize(img, target_shape, interpolation):
        if interpolation not in modes:
            return theirs(img, target_shape, interpolation)
        return tenter.resize(img, target_shape, axes=(0, 1), mode=modes[interpolation], like="opencv")

    functional.resize = resize


def pytest_configure(config):
    how = os.environ["TENTER_THEIRS"]
    if how == "albumentations":
        replace_resize_of_albumentations()
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
    counted = {"outcomes": outcomes, "served": {}, "passed": {}}
    if os.environ["TENTER_THEIRS"] == "torch":
        import tenter.torch

        report = tenter.torch.report()
        counted |= {"served": report.served, "passed": report.passed}
    Path(os.environ["TENTER_THEIRS_REPORT"]).write_text(json.dumps(counted))

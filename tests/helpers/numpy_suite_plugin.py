"""A pytest plugin under which NumPy's own tests run on tenter's repeat and tile: see test_numpy_suite.py."""

import functools
import json
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tenter.numpy

ORIGINAL = {"repeat": np.repeat, "tile": np.tile}
OURS = {"repeat": tenter.numpy.repeat, "tile": tenter.numpy.tile}

calls = {name: Counter() for name in ORIGINAL}  # per test
fallbacks = Counter()  # calls that ours left to np.repeat or np.tile
failed = {}
running = None
inside = threading.local()


def replacement(name, original, ours):
    @functools.wraps(original)
    def replaced(*args, **kwargs):
        # ours may hand an array that it does not take to np.repeat, which is this function now
        if getattr(inside, "ours", False):
            fallbacks[name] += 1
            return original(*args, **kwargs)
        calls[name][running] += 1
        inside.ours = True
        try:
            return ours(*args, **kwargs)
        finally:
            inside.ours = False

    return replaced


def replace_everywhere(original, replaced):
    """In every module of NumPy and of ours that has it by any name; NumPy modules imported later copy it from these."""
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] in ("numpy", "tenter"):
            for name, value in list(vars(module).items()):
                if value is original:
                    setattr(module, name, replaced)


def pytest_addoption(parser):
    parser.addoption("--suite-report", type=Path)
    parser.addoption("--plain", action="store_true", help="leave NumPy's functions in place")


def pytest_configure(config):
    if not config.getoption("--plain"):
        for name, original in ORIGINAL.items():
            replace_everywhere(original, replacement(name, original, OURS[name]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    global running
    running = item.nodeid
    return (yield)


def pytest_runtest_logreport(report):
    if report.failed:
        failed[report.nodeid] = report.longreprtext


def pytest_collectreport(report):
    if report.failed:
        failed[report.nodeid] = report.longreprtext


def pytest_sessionfinish(session):
    summary = {
        "ran": session.testscollected,
        "failed": failed,
        "tests": {name: len(per_test) for name, per_test in calls.items()},
        "calls": {name: per_test.total() for name, per_test in calls.items()},
        "fallbacks": fallbacks,
    }
    session.config.getoption("--suite-report").write_text(json.dumps(summary))

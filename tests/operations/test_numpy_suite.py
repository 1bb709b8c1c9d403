"""NumPy's own tests, as its wheel carries them, with np.repeat and np.tile replaced by tenter's."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from roots import TESTS

NUMPY = Path(np.__file__).parent
# The whole suite of NumPy 2.4 calls np.repeat in 223 tests and np.tile in 64. All are in files that name the function:
# nothing in the library itself calls either. Older versions have fewer, 2.0 for one 222 and 20.
FLOOR = {"repeat": 200, "tile": 50 if np.lib.NumpyVersion(np.__version__) >= "2.4.0" else 18}
# What takes little time, and how many of those tests that is at least.
SHORT = ("test_shape_base.py", "test_multiarray.py")
CLASSES = {"test_multiarray.py": ("::TestRepeat", "::TestArgmax")}
SHORT_FLOOR = {"repeat": 90, "tile": 4}


def test_files():
    # np.repeat, getattr(np, "repeat") or an imported repeat(...); the method x.repeat(...) cannot be replaced
    named = re.compile(r"""\bnp\.(repeat|tile)\b|["'](repeat|tile)["']|(?<![\w.])(repeat|tile)\(""")
    return [path for path in sorted(NUMPY.rglob("test_*.py")) if named.search(path.read_text("utf-8"))]


test_files.__test__ = False


def run(selection, folder, *options):
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-c", os.devnull, "--rootdir", NUMPY.parent]
    command += ["-p", "no:cacheprovider", "-p", "numpy_suite_plugin", "--suite-report", report, *options, *selection]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS / "helpers"), environment.get("PYTHONPATH", "")])
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others take longer to load than some of the tests
    environment["NPY_AVAILABLE_MEM"] = "1GB"  # NumPy skips what needs more: minutes, and none of it repeats or tiles
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert report.exists(), f"died with {finished.returncode}:\n{finished.stdout[-3000:]}{finished.stderr[-3000:]}"
    return json.loads(report.read_text())


def short_files():
    files = [path for path in test_files() if path.name in SHORT]
    return [f"{path}{name}" for path in files for name in CLASSES.get(path.name, [""])]


@pytest.mark.parametrize(
    "choose, floors",
    [(short_files, SHORT_FLOOR), pytest.param(test_files, FLOOR, marks=pytest.mark.slow)],
    ids=["some", "all files"],
)
def test_numpys_own_tests_pass_on_ours(tmp_path, choose, floors):
    summary = run(choose(), tmp_path)
    failed = summary.pop("failed")
    print(summary)
    if failed:
        # Some fail in some environments with NumPy itself: those are not tenter's. Whole files, as order matters to a few.
        files = sorted({NUMPY.parent / node.partition("::")[0] for node in failed})
        failed_plain = run(files, tmp_path, "--plain")["failed"]
        failed = {node: text for node, text in failed.items() if node not in failed_plain}
    assert not failed, "\n\n".join(f"{node}\n{text[-2000:]}" for node, text in failed.items())
    assert all(summary["tests"][name] >= floor for name, floor in floors.items()), summary["tests"]

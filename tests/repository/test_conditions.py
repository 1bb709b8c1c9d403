"""What tests/conftest.py makes of an environment that would change what tests and their programs find; the conditions of
tests/conditions.py are each another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import conditions

from roots import TESTS

ODD = {
    "COLUMNS": "40", "LINES": "10", "FORCE_COLOR": "1", "NO_COLOR": "1", "PYTHONWARNINGS": "default",
    "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/dev/null/none", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
}  # fmt: skip
INSIDE = '''
import os, pathlib, subprocess, sys

def seen():
    """What programs and this process see."""
    home = pathlib.Path.home()
    (home / "file").write_text("ö")
    (home / "module.py").write_text("")
    sys.path.insert(0, str(home))
    import module
    assert os.path.exists(module.__cached__) and not module.__cached__.startswith(str(home))
    names = "COLUMNS LINES FORCE_COLOR NO_COLOR PYTHONWARNINGS PYTHONDONTWRITEBYTECODE".split()
    assert not [name for name in names if name in os.environ]

def test():
    assert sys.__stdin__.encoding
    seen()
    subprocess.run([sys.executable, "-c", f"import {__name__}; {__name__}.seen()"], check=True, cwd=pathlib.Path(__file__).parent)
'''


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="closes stdin by sh")
def test_tests_do_not_see_an_odd_environment(tmp_path: Path) -> None:
    (tmp_path / "test_inside.py").write_text(INSIDE, "utf-8")
    environment = {
        **os.environ,
        **ODD,
        "PYTHONPATH": os.pathsep.join((str(TESTS), str(TESTS / "helpers"))),
        "TMPDIR": str(tmp_path),
    }
    environment.pop("PYTHONPYCACHEPREFIX", None)
    run = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "-n", "0"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *run, "--rootdir", str(tmp_path), str(tmp_path / "test_inside.py")],
        env=environment, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tmp_path.glob("tenter-tests-*")), "a temporary folder is left"


def test_every_condition_changes_something(tmp_path: Path) -> None:
    made = {}
    for name, condition in conditions.CONDITIONS.items():
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        if condition.__name__ != "<lambda>" or "by" not in condition.__code__.co_names:  # which start programs
            machine = condition(folder)
            made[name] = str(machine)
    assert len(set(made.values())) == len(made) > 10
    assert set(conditions.TOGETHER) <= set(conditions.CONDITIONS)

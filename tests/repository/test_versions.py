"""Which versions are promised, said in one voice by the metadata, the docs, the errors and the release workflow."""

from __future__ import annotations

import re
import subprocess
import sys
import types

import pytest
from tests import versions

from roots import ROOT
from tenter._arrays import oldest_versions

PACKAGES = {"NumPy": "numpy", "PyTorch": "torch", "Triton": "triton", "JAX": "jax", "Dask": "dask[array]", "zarr": "zarr",
            "Pillow": "pillow", "tifffile": "tifffile"}  # fmt: skip


def numbers(version):
    return tuple(int(n) for n in version.split("."))


def test_errors_at_import_say_what_the_metadata_says():
    for library, oldest in oldest_versions.OLDEST.items():
        assert numbers(versions.promised(PACKAGES[library])) == oldest
        too_old = f"{oldest[0]}.{oldest[1] - 1}.9+cpu" if oldest[1] else f"{oldest[0] - 1}.99.9"
        exactly = ".".join(map(str, oldest))
        for version in (exactly, f"{exactly}.0a0+git1" if len(oldest) == 2 else f"{exactly}a0", f"{oldest[0] + 1}.0"):
            oldest_versions.check(library, version)
        upgrade = rf"\(pip install --upgrade {PACKAGES[library].split('[')[0]}\)"
        said = f"^tenter: expected {library} .* or newer, got {library} {re.escape(too_old)} {upgrade}$"
        with pytest.raises(ImportError, match=said):
            oldest_versions.check(library, too_old)


def test_the_docs_say_what_the_metadata_says():
    table = re.findall(r"^\| (\w+)[^|]*\| ([\d.]+) \|", (ROOT / "docs" / "installing.md").read_text(), re.MULTILINE)
    assert dict(table).keys() == {"Python", *PACKAGES}
    for library, package in PACKAGES.items():
        said, promise = numbers(dict(table)[library]), numbers(versions.promised(package))
        assert said[: len(promise)] == promise
    pythons = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    assert tuple(pythons) == versions.PYTHONS and dict(table)["Python"] == versions.PYTHONS[0]


def test_every_promise_has_its_environments():
    made = " ".join(package for row in versions.rows() for package in row.packages)
    for package in PACKAGES.values():
        for either in (f"{package}=={versions.promised(package)}", f"{package}>={versions.promised(package)}"):
            assert either in made, either
    assert {row.python for row in versions.rows()} == {*versions.PYTHONS, versions.FREE_THREADED}
    torches = [numbers(version) for version in (versions.promised("torch"), *versions.TORCHES)]
    assert torches == [(2, torches[0][1] + n) for n in range(len(torches))]  # each minor version
    for files, _ in versions.TESTS.values():
        for pattern in files.split():
            assert list((ROOT / "tests").rglob(pattern)), pattern


def test_the_release_workflow_has_the_same_environments():
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    listed = re.search(r"only:\n((?: +- \S+\n)+)", workflow)
    assert listed and re.findall(r"- (\S+)", listed[1]) == [row.name for row in versions.rows()]


def test_the_citation_is_of_this_version():
    said = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert said and f'version = "{said[1]}"' in (ROOT / "pyproject.toml").read_text()


def test_an_old_numpy_is_refused_when_tenter_is_imported():
    code = "import numpy; numpy.__version__ = '1.24.4'; import tenter"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and done.stderr.endswith(
        "ImportError: tenter: expected NumPy 1.25 or newer, got NumPy 1.24.4 (pip install --upgrade numpy)\n"
    )


def test_an_old_pytorch_is_named_and_arrays_of_numpy_go_on():
    code = (
        "import torch; torch.__version__ = '2.5.1'\n"
        "import warnings, numpy as np\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    import tenter\n"
        "assert tenter.repeat(np.ones(2), 2).shape == (4,)\n"
        "print(*{str(w.message) for w in seen if 'tenter' in str(w.message)})\n"
        "tenter.repeat(torch.ones(2), 2)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    message = f"tenter: expected PyTorch {versions.promised('torch')} or newer, got PyTorch 2.5.1 (pip install --upgrade torch)\n"
    assert done.stdout == message and done.stderr.endswith(f"ImportError: {message}"), done.stderr


def test_what_cannot_be_run_is_a_line_and_a_failure(tmp_path, monkeypatch, capsys):
    missing = versions.Row("missing", "3.99", ("numpy",), ("numpy",))
    monkeypatch.setattr(versions, "rows", lambda: [missing])
    monkeypatch.setattr(sys, "argv", ["versions", "--folder", str(tmp_path)])
    assert versions.main() == 1
    assert "not run: this machine has no Python 3.99" in capsys.readouterr().out

    log = tmp_path / "bad.log"
    for status, said, passed in ((0, "12 passed in 1s", True), (1, "1 failed, 11 passed in 1s", False), (0, "", False)):
        log.write_text("")
        monkeypatch.setattr(versions, "run", lambda command, log: log.write_text(said) * 0 + status)
        monkeypatch.setattr(versions.subprocess, "run", lambda *a, **k: types.SimpleNamespace(stdout="numpy 2"))
        assert versions.tests_of(missing, "python", log)[0] == passed

"""The program that runs other libraries' own tests, on a library of three tests."""

from __future__ import annotations

import sys

import pytest
from tests import theirs

SUITE = """
import torch, torch.nn.functional as F

def test_same():
    assert F.interpolate(torch.ones(1, 1, 3), 6).shape[-1] == 6

def test_plain_alone():
    assert F.interpolate.__module__ == "torch.nn.functional"

def test_unwanted():
    raise AssertionError
"""


@pytest.mark.slow
def test_tests_whose_outcome_differs_with_tenter_are_named(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "test_small.py").write_text(SUITE)
    small = theirs.Library("", "", ".", (), "test_small.py", "not unwanted")
    monkeypatch.setitem(theirs.LIBRARIES, "small", small)
    given = ["theirs", "--only", "small", "--folder", str(tmp_path), "--python", sys.executable]
    monkeypatch.setattr(sys, "argv", given)
    assert theirs.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "small: 2 passed; with tenter 1 passed, 1 failed; calls {'interpolate': 1}",
        "  passed -> failed: test_small.py::test_plain_alone",
    ]

"""Folders of the repository that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NATIVE = ROOT / "native"
TESTS = ROOT / "tests"

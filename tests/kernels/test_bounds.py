"""No kernel reads past its input or writes past its result: they end where a page begins that may not be touched."""

from __future__ import annotations

import sys

import pytest

from program_helpers import prints


@pytest.mark.skipif(sys.platform == "win32", reason="no mprotect")
def test_no_read_past_the_end():
    assert prints("bounds.py", timeout=240) == "inside\n"

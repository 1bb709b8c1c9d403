"""Code on the pages of the docs gives what they show after it."""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

import pytest

import tenter
from roots import DOCS

README = "../README.md"
PAGES = [README, *sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if "```python" in p.read_text())]
#: whose code shows nothing: of `cuda` it needs a device; the others are run by test_coming_from.py,
#: test_worked_examples.py and tests/helpers/dtensor_checks.py
OTHERS = ["coming-from.md", "cuda.md", "distributed.md", "internals/worked-examples.md"]
#: whose code saves pictures, which tests/documents/test_tutorials.py runs in a folder of its own
OTHERS += [page for page in PAGES if page.startswith("tutorials/") and ".webp)" in (DOCS / page).read_text()]
PACKAGES = re.compile(r"^(?:import|from) .*\b(torch|PIL|jax|dask|scipy|xarray|albumentations|sklearn)\b", re.M)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OTHERS])
def test_code_gives_the_results_shown(page: str) -> None:
    """The blocks of a page are one program, which runs up to the first block whose packages are missing."""
    text = (DOCS / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)
    assert len(blocks) == text.count("```python")
    limit = tenter.memory.get_limit()
    scope: dict[str, Any] = {}
    try:
        for code, shown in blocks:
            for package in PACKAGES.findall(code):
                pytest.importorskip(package)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(code, scope)
            assert out.getvalue() == shown
    finally:
        tenter.memory.set_limit(limit)  # that docs/memory.md sets

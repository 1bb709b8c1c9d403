"""docs/support.md says what calls do with each dtype of each array library."""

from __future__ import annotations

import sys

import pytest

from roots import DOCS

sys.path.append(str(DOCS))

import support_table

PACKAGES = {
    "NumPy": "numpy",
    "PyTorch on the CPU": "torch",
    "JAX": "jax",
    "Array API standard (array-api-strict)": "array_api_strict",
    "Dask": "dask.array",
}


@pytest.mark.parametrize("libraries", [[*PACKAGES][:2], pytest.param([*PACKAGES], marks=pytest.mark.slow)], ids=len)
def test_the_page_is_what_calls_do(libraries):
    for library in libraries:
        pytest.importorskip(PACKAGES[library])
    assert [*support_table.LIBRARIES] == [*PACKAGES]
    lines, notes = support_table.table(libraries)
    page = (DOCS / "support.md").read_text()
    assert all(f"\n{line.removesuffix(' |')} |" in page for line in lines)
    assert all(f"\n{n}. `{note}`\n" in page for n, note in enumerate(notes, 1))
    assert sum(line.count("all") for line in lines) >= 8 * len(libraries) and len(notes) > 3

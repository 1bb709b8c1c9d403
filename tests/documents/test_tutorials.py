"""The tutorials: what a reader types, one block after the other in one folder, gives what the page shows."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from roots import DOCS

sys.path.append(str(DOCS))
import tutorial_pictures as tutorials

NEEDS = {
    "photographs": ["skimage"],
    "train": ["torch", "skimage"],
    "volumes": ["zarr", "tifffile", "scipy"],
    "ragged": [],
}


def test_four_readers_have_a_tutorial() -> None:
    assert {page.stem for page in tutorials.PAGES} == set(NEEDS)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Of PyTorch's, which wait for one another where other tests run."""
    if torch := sys.modules.get("torch"):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(threads)
    else:
        yield


@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_a_tutorial_gives_what_it_shows(page: Path, tmp_path: Path, one_thread: None) -> None:
    """Also its pictures, and it says what to install."""
    image = pytest.importorskip("PIL.Image")
    for package in NEEDS[page.stem]:
        pytest.importorskip(package)
    blocks = tutorials.run(page, tmp_path)
    assert blocks[0][0].startswith("pip install ") and len(blocks) > 4
    for code, printed, shown in blocks:
        assert printed == shown or (code.startswith("tenter ") and not shown), code  # some lines print times
    names = tutorials.pictures(page)
    assert names
    for name in names:
        with image.open(tmp_path / name) as made, image.open(tutorials.FOLDER / name) as held:
            assert made.size == held.size
            pair = [np.asarray(i.convert("RGB"), int) for i in (made, held)]
        assert np.abs(pair[0] - pair[1]).mean() < 4, name


@pytest.mark.parametrize("page", sorted(tutorials.FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_a_tutorial_is_short(page: Path) -> None:
    assert len(re.findall(r"\S*\w\S*", page.read_text())) < 900

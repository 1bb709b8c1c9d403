"""The site of the docs: the reference has every public name, drawings are those that the command draws. That it
builds without warnings is tested in the slow tier."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tenter
from roots import ROOT

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
OPERATIONS = sorted(p.stem for p in (DOCS / "operations").glob("*.md") if p.stem != "README")


NOTEBOOKS = [p for p in sorted((DOCS / "tutorials").glob("*.md")) if "{code-cell}" in p.read_text()]


@pytest.mark.parametrize("name", OPERATIONS)
def test_pages_of_operations_have_all_parts(name: str) -> None:
    text = (DOCS / "operations" / f"{name}.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings[0] == "Example" and headings[-3:] == ["Edge cases", "Errors", "See also"]
    assert re.search(r"^!\[.+\]\(.+\)$", text.partition("## Example")[0], re.M)


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_notebooks_run(page: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", page.read_text(), re.S)
    assert len(cells) >= 4
    scope: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            tree = ast.parse(cell)
            shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, page.name, "exec"), scope)
            if isinstance(shown, ast.Expr):  # what a notebook shows below the cell
                value = eval(compile(ast.Expression(shown.value), page.name, "eval"), scope)
                assert value is None or any(hasattr(value, f"_repr_{kind}_") for kind in ("html", "png"))


def test_drawings_are_those_that_the_command_draws() -> None:
    import draw

    drawn = {name: figure.svg() for name, figure in draw.FIGURES.items()}
    assert {name for name, svg in drawn.items() if (DOCS / f"{name}.svg").read_text() != svg} == set()
    held = {
        p.relative_to(DOCS).with_suffix("").as_posix()
        for folder in (".", "operations", "cookbook")
        for p in (DOCS / folder).glob("*.svg")
        if not p.name.startswith("performance-")  # drawn by the benchmarks
    }
    assert held == set(drawn)
    pages = "".join(p.read_text() for p in DOCS.rglob("*.md"))
    assert [name for name in drawn if f"{name.rpartition('/')[2]}.svg)" not in pages] == []


@pytest.mark.parametrize(
    "module, name, needs",
    [
        ("light_and_alpha", "operations/light-and-alpha", []),
        ("photograph", "tutorials/photo", ["torch", "cv2", "skimage"]),
    ],
)
def test_pictures_are_those_that_the_commands_draw(module: str, name: str, needs: list[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    for package in needs:
        pytest.importorskip(package)
    drawn = importlib.import_module(module).drawn().convert("RGB")
    with image.open(DOCS / f"{name}.png") as held:
        assert held.size == drawn.size
        apart = np.abs(np.asarray(held.convert("RGB"), int) - np.asarray(drawn, int)).max(-1)
    assert (apart > 64).mean() < 0.02  # fonts differ between versions of Pillow


def test_the_photograph_shows_what_its_text_says() -> None:
    """Those without antialias are rough, those with it are smooth, and each library's agree."""
    for package in ("torch", "cv2", "skimage"):
        pytest.importorskip(package)
    made = list(importlib.import_module("photograph").shrunk().values())
    rough = [np.abs(np.diff(pixels.astype(int), axis=0)).mean() for pixels in made]
    assert min(rough[:3]) > 1.2 * max(rough[3:])
    for row in (made[:3], made[3:5]):
        assert all(np.abs(row[0].astype(int) - other).max() <= 2 for other in row[1:])


def test_the_drawing_of_the_idea_has_the_numbers_of_the_objects_it_names() -> None:
    """Each entry of the matrices that it shows, in its order, from what its first lines define."""
    import draw

    scope: dict[str, Any] = {**vars(tenter), "np": np}
    exec(draw.FIGURES["idea"].setup, scope)
    A, B, rows, columns = (scope[name] for name in ("A", "B", "rows", "columns"))
    matrices = (B, A, B @ A, rows, columns)
    values = [v for m in matrices for v in m.dense().ravel()]
    values += list(np.kron(rows.dense(), columns.dense()).ravel())
    text = (DOCS / "idea.svg").read_text()
    shown = re.findall(r">(-?\d+(?:/\d+)?)</text>", text[text.index(">B @ A<") :])
    numbers = [float(Fraction(v)) for v in shown]
    assert np.allclose(numbers, [v for v in values if v])


def test_a_drawing_of_a_wrong_map_is_refused() -> None:
    from drawings.svg import Figure, Lines

    wrong = Lines("repeat(x, 2)", tenter.maps.Copy.repeat_each(3, 2))
    with pytest.raises(AssertionError, match="its map"):
        Figure("", "x = np.array([1, 2, 3])", [[wrong]]).svg()


def public_names(module: ModuleType) -> set[str]:
    """Functions, classes and constants, those of public submodules too."""
    listed = [n for n in dir(tenter) if n not in ("__all__", "__doc__")] if module is tenter else module.__all__
    modules = [getattr(module, n) for n in listed if isinstance(getattr(module, n), ModuleType)]
    names = {f"{module.__name__}.{n}" for n in listed if getattr(module, n) not in modules}
    return names.union(*map(public_names, modules))


def test_the_reference_has_every_public_name() -> None:
    pytest.importorskip("torch")
    pages = "".join(p.read_text() for p in (DOCS / "reference").glob("*.md"))
    documented = re.findall(r"^\.\. auto(?:function|class|data):: (\S+)$", pages, re.M)
    assert len(documented) == len(set(documented)) > 70
    assert public_names(tenter) == set(documented)
    assert "tenter.ragged.Plan" in documented and "tenter.geometry.Geometry" in documented


@pytest.mark.slow
def test_the_site_builds_without_warnings_or_the_network(tmp_path: Path) -> None:
    for package in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 45
    for page in pages:
        fetched = re.findall(r'<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text())
        assert not fetched, page
        for path in re.findall(r'<a [^>]*href="(?!https?:|#|mailto:)([^"#]+)', page.read_text()):
            assert (page.parent / path).exists(), f"{page}: {path}"

"""The site of the docs: the reference has every public name, drawings are those that the command draws. That it
builds without warnings is tested in the slow tier."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tenter

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
OPERATIONS = sorted(p.stem for p in (DOCS / "operations").glob("*.md") if p.stem != "README")


@pytest.mark.parametrize("name", OPERATIONS)
def test_pages_of_operations_have_all_parts(name: str) -> None:
    text = (DOCS / "operations" / f"{name}.md").read_text()
    assert re.findall(r"^## (.*)$", text.replace("## Modes\n", ""), re.M) == [
        "Example",
        "Edge cases",
        "Errors",
        "See also",
    ]
    assert re.search(r"^!\[.+\]\(.+\)$", text.partition("## Example")[0], re.M)


@pytest.mark.parametrize("page", sorted((DOCS / "notebooks").glob("[a-z]*.md")), ids=lambda page: page.stem)
def test_notebooks_run(page: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", page.read_text(), re.S)
    assert len(cells) >= 5
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
        p.relative_to(DOCS).with_suffix("").as_posix() for p in (*DOCS.glob("*.svg"), *DOCS.glob("operations/*.svg"))
    }
    assert held == set(drawn)
    pages = "".join(p.read_text() for p in DOCS.rglob("*.md"))
    assert [name for name in drawn if f"{name.rpartition('/')[2]}.svg)" not in pages] == []


@pytest.mark.parametrize("module, name", [("pictures", "operations"), ("light_and_alpha", "light-and-alpha")])
def test_pictures_are_those_that_the_commands_draw(module: str, name: str) -> None:
    image = pytest.importorskip("PIL.Image")
    drawn = importlib.import_module(module).drawn().convert("RGB")
    with image.open(DOCS / f"{name}.png") as held:
        assert held.size == drawn.size
        apart = np.abs(np.asarray(held.convert("RGB"), int) - np.asarray(drawn, int)).max(-1)
    assert (apart > 64).mean() < 0.02  # fonts differ between versions of Pillow


def test_a_drawing_of_a_wrong_map_is_refused() -> None:
    from drawings.svg import Figure, Lines

    wrong = Lines("repeat(x, 2)", tenter.maps.Copy.every(3, 2))
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


def test_docstrings_become_paragraphs_arguments_and_code() -> None:
    import docstrings

    text = "Does it to `x`.\n\nx: an array*. size: its\n    size_. Returns it. Raises TypeError.\n\n>>> f(1)\n1"
    made = docstrings.rewritten(text, {"x", "size"})
    assert made == (
        "Does it to ``x``.\n\n``x``\n    an array\\*.\n\n``size``\n    its size\\_.\n\n**Returns** it.\n\n"
        "**Raises** TypeError.\n\n>>> f(1)\n1"
    )
    for name in ("repeat_interleave", "interpolate", "resize"):
        function = getattr(tenter, name)
        made = docstrings.rewritten(inspect.getdoc(function) or "", docstrings.arguments(function))
        explained = set(re.findall(r"``(\w+)``", made))
        assert set(inspect.signature(function).parameters) <= explained, name


@pytest.mark.slow
def test_the_site_builds_without_warnings_or_the_network(tmp_path: Path) -> None:
    for package in ("sphinx", "furo", "myst_nb"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        fetched = re.findall(r'<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text())
        assert not fetched, page
        for path in re.findall(r'<a [^>]*href="(?!https?:|#|mailto:)([^"#]+)', page.read_text()):
            assert (page.parent / path).exists(), f"{page}: {path}"

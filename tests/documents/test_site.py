"""The site of the docs: the reference has every public name, drawings are those that the command draws. That it
builds without warnings is tested in the slow tier."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tenter
from playground_browser import browser  # noqa: F401
from roots import ROOT

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
OPERATIONS = sorted(p.stem for p in (DOCS / "operations").glob("*.md") if p.stem != "README")


@pytest.mark.parametrize("name", OPERATIONS)
def test_pages_of_operations_have_all_parts(name: str) -> None:
    text = (DOCS / "operations" / f"{name}.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings[0] == "Example" and headings[-3:] == ["Edge cases", "Errors", "See also"]
    assert re.search(r"^!\[.+\]\(.+\)$", text.partition("## Example")[0], re.M)


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


def test_the_picture_of_alpha_and_light_is_that_which_the_command_draws() -> None:
    image = pytest.importorskip("PIL.Image")
    drawn = importlib.import_module("light_and_alpha").drawn().convert("RGB")
    with image.open(DOCS / "operations" / "light-and-alpha.png") as held:
        assert held.size == drawn.size
        apart = np.abs(np.asarray(held.convert("RGB"), int) - np.asarray(drawn, int)).max(-1)
    assert (apart > 64).mean() < 0.02  # fonts differ between versions of Pillow


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


def test_types_in_signatures_are_explained() -> None:
    """Each name that is no public class of tenter, NumPy, PyTorch or Python."""
    pytest.importorskip("torch")
    page = (DOCS / "reference" / "README.md").read_text().partition("## Types in signatures")[2]
    explained = set(re.findall(r"`(\w+)`", page.replace("| type | is |", "")))
    known = (
        "Any None Sequence Mapping Literal Unpack SupportsIndex Fraction NDArray Tensor PathLike Callable True False"
    )
    known_names = {*known.split(), *(name.rpartition(".")[2] for name in public_names(tenter))}
    used = set()
    for name in public_names(tenter):
        thing = functools.reduce(getattr, name.split(".")[1:], tenter)
        for made in [thing, *(vars(thing).values() if isinstance(thing, type) else [])]:
            if inspect.isfunction(made) and (made is thing or made.__name__[0] != "_"):
                for part in inspect.signature(made).parameters.values():
                    if isinstance(part.annotation, str) and part.name != "other":
                        used |= set(re.findall(r"(?<![\w.'\"])[A-Z]\w+", part.annotation))
    assert used - known_names - explained == set()
    assert {name for name in explained if name[0].isupper()} <= {
        *used,
        *known_names,
        "Indices",
        "RuleArguments",
        "Fields",
    }


def test_versions_are_joined_the_newest_first(tmp_path: Path) -> None:
    """Each with its pages, so that a reader stays on a page that both have."""
    import join_versions

    for name in ("0.9.0", "0.10.0", "main", "v0.2"):
        (tmp_path / name / "reference").mkdir(parents=True)
        for page in ("index.html", "reference/torch.html"):
            (tmp_path / name / page).touch()
        (tmp_path / name / "objects.inv").touch()
    (tmp_path / "notes").mkdir()
    assert join_versions.join(tmp_path) == ["0.10.0", "0.9.0", "v0.2", "main"]
    listed = json.loads((tmp_path / "versions.js").read_text().removeprefix("const siteVersions = ").rstrip(";\n"))
    assert listed["main"] == ["index.html", "reference/torch.html"] and "notes" not in listed
    assert 'href="0.10.0/index.html"' in (tmp_path / "index.html").read_text()
    with pytest.raises(SystemExit, match="expected folders with a built site"):
        join_versions.join(tmp_path / "notes")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, and an older version of it that lacks a page."""
    for package in ("sphinx", "furo", "myst_parser", "sphinx_copybutton"):
        pytest.importorskip(package)
    import join_versions

    folder = tmp_path_factory.mktemp("site") / tenter.__version__
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    shutil.copytree(folder, folder.parent / "0.0.1")
    (folder.parent / "0.0.1" / "gallery.html").unlink()
    join_versions.join(folder.parent)
    return folder


@pytest.mark.slow
def test_the_site_builds_without_warnings_or_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 45
    for page in pages:
        fetched = re.findall(r'<(?:script|img|link|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text())
        assert not fetched, page
        for path in re.findall(r'<a [^>]*href="(?!https?:|#|mailto:)([^"#]+)', page.read_text()):
            assert (page.parent / path).exists(), f"{page}: {path}"
        if "genindex" not in page.name and (DOCS / page.relative_to(site).with_suffix(".md")).exists():
            assert f"/edit/main/docs/{page.relative_to(site).with_suffix('.md').as_posix()}" in page.read_text()


@pytest.mark.slow
def test_pages_of_the_site_work_in_a_browser(site: Path, browser: Any) -> None:
    """No page is wider than a phone or complains, in light or dark; buttons copy code; versions lead to the same page."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(30_000)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(f"console: {message.text}"))
    context.on("weberror", lambda error: complaints.append(f"error: {error.error}"))
    page = context.new_page()
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        if not name.startswith(("_modules", "playground")):
            page.emulate_media(color_scheme="dark" if len(name) % 2 else "light")
            page.set_viewport_size({"width": 390, "height": 800})
            page.goto(path.as_uri())
            assert page.evaluate("document.scrollingElement.scrollWidth") <= 390, name
            broken = "[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)"
            assert page.evaluate(broken) == [], name

    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto((site / "reference" / "README.html").as_uri())
    shown = page.locator("div.highlight-default", has_text=">>>").first
    shown.hover()
    shown.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied and ">>>" not in copied and copied.splitlines()[0] in shown.inner_text()
    for start, end in (("lazy", "lazy"), ("gallery", "index")):
        page.goto((site / f"{start}.html").as_uri())
        page.locator(".versions select").select_option("0.0.1")
        page.wait_for_url(f"**/0.0.1/{end}.html")
        assert page.locator(".versions select").input_value() == "0.0.1"
    page.goto((site.parent / "index.html").as_uri())
    page.wait_for_url(f"**/{tenter.__version__}/index.html")
    assert not complaints
    context.close()

"""How the site is built from this folder: `python -m sphinx -W docs build/site`, with the extra `docs` installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import docstrings  # noqa: E402

import tenter  # noqa: E402

project, author, copyright = "tenter", "The tenter authors", "the tenter authors, Apache License 2.0"
release = version = tenter.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_*", "playground", "**/.ipynb_checkpoints"]

html_theme = "furo"
html_title = "tenter"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
templates_path: list[str] = []
pygments_style, pygments_dark_style = "friendly", "monokai"

# Headings are linked to as on GitHub. No formulas, as their script would come from the network.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "fieldlist"]

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

# Docstrings say what arguments are; the overloads for type checkers would fill pages.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

# Pages of the repository's root, by the page of the site that includes them.
ROOT_PAGES = {
    "README.md": "index", "DESIGN.md": "project/design", "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changes",
}  # fmt: skip


def lead_to_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Links to the root's pages, which are outside of this folder, lead to the pages that include them."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        target = link["reftarget"]
        page = ROOT_PAGES.get(Path(target).with_suffix(".md").name)
        path = (HERE / target).with_suffix(".md")
        if page and not (path.is_relative_to(HERE) and path.is_file()):
            link["refdomain"], link["reftarget"], link["reftargetid"] = "doc", page, link.get("reftargetid")
        elif target == "benchmarks-gpu.json":  # written by the first run on a GPU
            link.replace_self(link.children)


def list_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Contents: the pages that a folder's README links to, in that order; for the front page what it leaves out."""
    text, caption = source[0], ""
    if name == "index":
        named = set(re.findall(r"^[\w/-]+$", text, re.M))
        found = [p for p in (*HERE.glob("*.md"), *HERE.glob("*/README.md")) if p.parent.name != "playground"]
        pages = sorted({p.relative_to(HERE).with_suffix("").as_posix() for p in found} - named - {"index"})
        caption = ":caption: More\n"
    elif name.endswith("/README") and name != "operations/README":  # whose pages the front page names
        pages = list(dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md\)", text)))
    else:
        return
    if pages:
        source[0] = text + f"\n```{{toctree}}\n:hidden:\n{caption}\n" + "\n".join(pages) + "\n```\n"


def link_to_playground(app: Sphinx, doctree: nodes.document) -> None:
    """The playground is a page by itself: a link leads to the one that is added, not to a copy of its source."""
    for link in list(doctree.findall(addnodes.download_reference)):
        if link["reftarget"] == "playground/index.html":
            link.replace_self(nodes.reference("", "", *link.children, refuri=link["reftarget"], internal=True))


def add_playground(app: Sphinx, failure: Exception | None) -> None:
    build = HERE / "playground" / "build.py"
    if failure is None and app.builder.name == "html" and build.exists():
        page = Path(app.outdir) / "playground" / "index.html"
        page.parent.mkdir(exist_ok=True)
        subprocess.run([sys.executable, str(build), str(page)], check=True, stdout=subprocess.DEVNULL)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", list_pages)
    app.connect("doctree-read", lead_to_pages)
    app.connect("doctree-read", link_to_playground, priority=100)  # before the files of such links are noted
    app.connect("build-finished", add_playground)
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("autodoc-process-signature", docstrings.signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

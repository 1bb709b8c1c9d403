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
import tenter  # noqa: E402

project, author, copyright = "tenter", "The tenter authors", "the tenter authors, Apache License 2.0"
release = version = tenter.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_*", "internals", "playground", "**/.ipynb_checkpoints"]
# Outside of the contents: raw tables.
ALONE = "measured/"

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

# Docstrings have NumPy's sections.
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"
smartquotes = False


def list_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Contents of the cookbook and the reference: the pages that the folder's README links to, in that order."""
    if name in ("cookbook/README", "reference/README"):
        pages = dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md\)", source[0]))
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
    elif name.startswith(ALONE):
        app.env.metadata[name]["orphan"] = True


def show_both_looks(app: Sphinx, doctree: nodes.document) -> None:
    """A picture NAME-light.svg is shown with NAME-dark.svg, each in its scheme, as the theme's switch says."""
    for image in list(doctree.findall(nodes.image)):
        if image["uri"].endswith("-light.svg"):
            dark = image.deepcopy()
            dark["uri"] = image["uri"].replace("-light.svg", "-dark.svg")
            image["classes"].append("only-light")
            dark["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, dark)


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


def of_data(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The docstring of a constant is that of its type."""
    if what == "data":
        lines.clear()


def without_missing(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, shown: str | None, returned: str | None
) -> Any:
    """A signature without the default that stands for an argument that is missing."""
    return (re.sub(r"=<.*?>", "", shown) if shown else shown), returned


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", list_pages)
    app.connect("doctree-read", show_both_looks, priority=100)  # before pictures are noted
    app.connect("doctree-read", link_to_playground, priority=100)  # before the files of such links are noted
    app.connect("build-finished", add_playground)
    app.connect("autodoc-process-docstring", of_data)
    app.connect("autodoc-process-signature", without_missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

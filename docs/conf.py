"""How the site is built from this folder: `python -m sphinx -W docs build/site`, with the extra `docs` installed."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

HERE = Path(__file__).resolve().parent
PROJECT = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
sys.path.insert(0, str(HERE))
import tenter  # noqa: E402

project, author, copyright = "tenter", "The tenter authors", "the tenter authors, Apache License 2.0"
release = version = tenter.__version__
extensions = ["myst_parser", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_*", "internals", "playground"]
# Outside of the contents: raw tables.
ALONE = "measured/"

html_theme = "furo"
html_title = "tenter"
html_static_path = ["_static"]
html_css_files, html_js_files = ["site.css"], ["versions.js"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": True,
    # "edit this page"
    "source_edit_link": re.findall(r'^Source = "(.*)"$', PROJECT, re.M)[0] + "/edit/main/docs/{filename}",
    "top_of_page_buttons": ["edit"],
}
# furo's, and the version after the field for searching
html_sidebars = {
    "**": [
        "sidebar/brand.html", "sidebar/search.html", "versions.html", "sidebar/scroll-start.html",
        "sidebar/navigation.html", "sidebar/scroll-end.html", "sidebar/variant-selector.html",
    ]
}  # fmt: skip
templates_path = ["_templates"]
# Buttons copy what one types: no prompts, and no output.
copybutton_selector = ",".join(f"div.highlight-{name} pre" for name in ("python", "bash", "pycon", "default", "cpp"))
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. ", True
pygments_style, pygments_dark_style = "friendly", "monokai"

# Headings are linked to as on GitHub. No formulas, as their script would come from the network.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "fieldlist"]

# A signature has the types of the function itself, by names that docs/reference/README.md explains, on a line each.
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
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


#: what is shown in a signature, by what it replaces
SHORTER = {
    "": r" ?= ?<missing>|, \*\*(?:no_)?other: Any",
    "ArrayLike": r"_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]",
    r"\1": r"<class '(?:numpy\.)?(.*?)'>",
}


def shorter(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, shown: str | None, returned: str | None
) -> Any:
    """A signature without overloads, which are for type checkers, and without what stands for a missing argument."""
    with contextlib.suppress(PycodeError, AttributeError):
        analyzer = ModuleAnalyzer.for_module(thing.__module__)
        analyzer.analyze()
        analyzer.overloads.clear()
    for written, pattern in SHORTER.items():
        shown = re.sub(pattern, written, shown) if shown else shown
    return shown, returned


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", list_pages)
    app.connect("doctree-read", show_both_looks, priority=100)  # before pictures are noted
    app.connect("doctree-read", link_to_playground, priority=100)  # before the files of such links are noted
    app.connect("build-finished", add_playground)
    app.connect("autodoc-process-docstring", of_data)
    app.connect("autodoc-process-signature", shorter)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

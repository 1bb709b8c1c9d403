"""The imports of src/tenter, those inside functions too: one direction, no circle, and late ones of what few programs
need. Which layer may import which is a contract in pyproject.toml (`lint-imports`)."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import tenter

ROOT = Path(tenter.__file__).parent
PUBLIC = {"configuration", "conventions", "coordinates", "filters", "geometry", "image", "interleaving", "interpolation", "lazy",
          "maps", "memory", "numpy", "ops", "ragged", "resampling", "scipy", "skimage",
          "threads", "torch", "cli", "__init__", "__main__"}  # fmt: skip
OPTIONAL = {
    "torch", "triton", "jax", "dask", "PIL", "rich", "cv2", "tifffile", "imagecodecs", "png", "matplotlib", "pyarrow",
    "zarr", "numcodecs", "scipy", "skimage",
}  # fmt: skip

# Modules for some programs alone, which `import tenter` therefore leaves out, as it does what few calls need.
LATE = {"tenter._standard.executor"}
LEFT_OUT = LATE | {
    "array", "base64", "binascii", "copy", "dataclasses", "difflib", "importlib.metadata", "mmap", "numpy.typing", "threading",
    "tenter._explain", "tenter._plans.passes", "tenter.configuration", "tenter.conventions", "tenter.filters", "tenter.geometry", "tenter.image",
    "tenter.lazy", "tenter.maps._html", "tenter.numpy", "tenter.ragged", "tenter.scipy", "tenter.skimage",
    "tenter.torch",
}  # fmt: skip

Imports = list[tuple[str, bool]]  # what is imported, and whether inside a function


def name_of(path: Path) -> str:
    parts = ["tenter", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}


def imports(path: Path) -> Imports:
    """Of modules, as far as names say which; not those for a type checker alone."""
    found: Imports = []

    def add(name: str, late: bool) -> None:
        while name.startswith("tenter.") and name not in MODULES:  # a name in a module
            name = name.rpartition(".")[0]
        found.append((name, late))

    def walk(node: ast.AST, late: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                add(alias.name, late)
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            for alias in node.names:
                add(f"{node.module}.{alias.name}" if node.module.startswith("tenter") else node.module, late)
        for child in ast.iter_child_nodes(node):
            walk(child, late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))

    walk(ast.parse(path.read_text()), False)
    return found


@functools.cache
def graph() -> dict[str, Imports]:
    return {name: imports(path) for name, path in MODULES.items()}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
            if len(component) > 1 or v in edges.get(v, ()):
                found.append(sorted(component))

    for v in edges:
        if v not in index:
            visit(v)
    return found


def test_no_circle_of_imports() -> None:
    # A package's module imports its compiled module by the package's name, which is no circle.
    edges = {m: {name for name, _ in found if name in MODULES and name != m} for m, found in graph().items()}
    assert circles(edges) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_imports_inside_functions_are_of_optional_packages() -> None:
    """And of modules that import these at their top, and of LATE."""
    optional = {m for m, found in graph().items() if any(n.split(".")[0] in OPTIONAL for n, late in found if not late)}
    grown = True
    while grown:
        more = {m for m, found in graph().items() if any(name in optional for name, late in found if not late)}
        grown = not more <= optional
        optional |= more
    wrong = [
        f"{module} imports {name} inside a function"
        for module, found in graph().items()
        for name, late in found
        if late and name.startswith("tenter") and name not in optional | LATE
    ]
    assert wrong == []


def test_import_tenter_leaves_out_what_few_programs_need() -> None:
    code = "import sys, numpy; before = {*sys.modules}; import tenter; print(*{*sys.modules} - before)"
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "tenter.maps" in made and not LEFT_OUT & {*made}


def test_modules_that_users_do_not_import_are_private() -> None:
    top = {name.split(".")[1] for name in MODULES if "." in name}
    assert {name for name in top if not name.startswith("_")} <= PUBLIC
    assert all(name.split(".")[2].startswith("_") for name in MODULES if re.match(r"tenter\.(maps|ragged)\.", name))

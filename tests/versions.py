"""The tests with the oldest and the newest of what pyproject.toml promises, each in an environment of its own.

    python -m tests.versions [--only torch-2.8,python-3.13] [--list] [--folder build/versions]

Prints a table, a line for each environment: what was installed and how many tests passed. An environment that cannot be
made, as a Python is missing or a package has no wheel for it, is a line that says so, and the program then fails too.
The oldest version is the one that pyproject.toml names, the newest what pip finds. Environments of PyTorch take up to
6 GB where no build for processors alone is offered; each is removed once its tests have run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FREE_THREADED = "3.14t"  # without the interpreter's lock
# After the oldest, which pyproject.toml names, and before the newest, which pip finds.
TORCHES = ("2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13")
TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100")
# By what they are tests of: files, and what these import beside it.
TESTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "numpy": (
        "test_kernels.py test_maps.py test_filters.py test_resize.py test_image.py test_boxes.py test_changing_counts.py "
        "test_few_taps.py test_geometry.py test_immutable_maps.py test_scalars.py test_long_axes.py",
        (),
    ),
    "threads": ("test_races.py", ()),
    # What they compare with exports no read-only arrays before NumPy 2.1.
    "standard": ("test_standard_arrays.py", ("array-api-strict>=2.0",)),
    "torch": (
        "test_torch*.py test_gradients.py test_opinfo*.py test_ragged*.py test_accelerate*.py test_map_operator.py "
        "test_operator_arguments.py test_resize_torch.py test_out*.py test_lazy.py test_spellings.py test_values.py",
        ("expecttest", "array-api-strict>=2.0", "pandas>=2.1", "pillow>=12.1"),
    ),
    # Other libraries, with tenter in the place of what they resize with.
    "libraries": (
        "test_libraries.py test_pages.py",
        ("torchvision", "kornia", "timm", "diffusers", "segmentation-models-pytorch", "monai", "torchio", "transformers",
         "albumentationsx[headless]", "mlx[cpu]", "scikit-learn", "array-api-strict>=2.0"),
    ),
    "triton": ("test_triton.py test_triton_tables.py test_driver.py", ("array-api-strict>=2.0",)),
    "jax": ("test_jax*.py", ("array-api-strict>=2.0",)),
    "dask": ("test_dask.py test_dask_tasks.py test_volume_blocks.py", ("array-api-strict>=2.0",)),
    "volumes": ("test_volumes*.py test_pyramid.py", ("rich>=13",)),
    "pictures": ("test_cli*.py test_picture*.py test_tiff_stacks.py", ("rich>=13", "imagecodecs>=2024.9.22", "pypng>=0.20220715")),
}  # fmt: skip


class Row(NamedTuple):
    """An environment. packages: what pip installs beside tenter. tests: the names of TESTS; none import alone."""

    name: str
    python: str
    packages: tuple[str, ...]
    tests: tuple[str, ...]


@cache
def promised(package: str) -> str:
    """The oldest version of a package that pyproject.toml names, which must be a version that there is."""
    found = re.findall(rf'"{re.escape(package)}>=([\w.]+)', (ROOT / "pyproject.toml").read_text())
    if len(set(found)) != 1:
        raise SystemExit(f"pyproject.toml: expected one oldest version of {package}, got {sorted(set(found))}")
    return str(found[0])


def rows() -> list[Row]:
    old: Callable[[str], str] = lambda package: f"{package}=={promised(package)}"
    new: Callable[[str], str] = lambda package: f"{package}>={promised(package)}"
    cli = (new("pillow"), new("tifffile"))
    return [
        *(Row(f"python-{python}", python, (new("numpy"),), ("numpy", "standard")) for python in PYTHONS),
        Row(f"python-{FREE_THREADED}", FREE_THREADED, (new("numpy"),), ("numpy", "standard", "threads")),
        Row("numpy-oldest", "3.10", (old("numpy"),), ("numpy",)),
        Row(f"torch-{promised('torch')}", "3.10", (old("torch"), old("numpy")), ("torch",)),
        *(Row(f"torch-{version}", "3.11", (f"torch=={version}.*",), ("torch",)) for version in TORCHES),
        Row("torch-newest", "3.13", (new("torch"),), ("torch",)),
        Row("libraries", "3.11", (new("torch"),), ("libraries",)),
        Row("triton-oldest", "3.11", ("torch==2.8.*", old("triton")), ("triton",)),
        Row("triton-newest", "3.13", (new("torch"), new("triton")), ("triton",)),
        Row("jax-oldest", "3.11", (old("jax"),), ("jax",)),
        Row("jax-newest", "3.13", (new("jax"),), ("jax",)),
        Row("dask-oldest", "3.10", (old("dask[array]"),), ("dask",)),
        Row("dask-newest", "3.13", (new("dask[array]"),), ("dask",)),
        Row("zarr-oldest", "3.11", (old("zarr"), *cli), ("volumes",)),
        Row("zarr-newest", "3.13", (new("zarr"), *cli), ("volumes",)),
        Row("pillow-oldest", "3.10", (old("pillow"), new("tifffile")), ("pictures",)),
        Row("tifffile-oldest", "3.10", (new("pillow"), old("tifffile")), ("pictures",)),
        Row("pictures-newest", "3.13", cli, ("pictures",)),
        Row("numpy-alone", "3.12", (), ()),
    ]


# What is imported with NumPy alone: every module but those of a package that is missing, which must say so.
IMPORTS = """
import importlib, pkgutil, sys
import tenter
import numpy as np
assert tenter.repeat(np.arange(2), 2).tolist() == [0, 1, 0, 1]
packages = {"torch", "sympy", "jax", "dask", "zarr", "PIL", "tifffile", "triton", "rich", "pyarrow"}
assert not packages & {name.partition(".")[0] for name in sys.modules}, "imported without being asked for"
n = 0
for module in pkgutil.walk_packages(tenter.__path__, "tenter.", onerror=lambda name: None):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
        n += 1
    except ModuleNotFoundError as error:
        assert error.name.partition(".")[0] in packages, error
print(n, "passed")
"""


VERSION = """
import sys, sysconfig
print("{}.{}".format(*sys.version_info) + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


def interpreter(python: str) -> str | None:
    """A Python of that version: this one, one on PATH, or one of pyenv's."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [sys.executable, shutil.which(f"python{python}"), *sorted(versions.glob(f"{python}.*/bin/python"))]
    for candidate in filter(None, candidates):
        asked = [str(candidate), "-c", VERSION]
        try:
            done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip() == python:
            return str(candidate)
    return None


def run(command: list[str], log: Path) -> int:
    """The exit status; what it says goes to the log."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    with open(log, "a") as output:
        output.write(f"$ {' '.join(command)}\n")
        output.flush()
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT).returncode


def wheel(python: str, executable: str, folder: Path, log: Path) -> Path | None:
    """tenter, built once for each Python."""
    made = folder / f"wheel-{python}"
    if not list(made.glob("*.whl")):
        run([executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(made), "."], log)
    return next(made.glob("*.whl"), None)


def tried(row: Row, folder: Path) -> tuple[bool, str, str]:
    """Whether it passed, what was installed, and what came of it."""
    executable = interpreter(row.python)
    if executable is None:
        return False, "", f"not run: this machine has no Python {row.python}"
    log = folder / f"{row.name}.log"
    log.unlink(missing_ok=True)
    built = wheel(row.python, executable, folder, log)
    if built is None:
        return False, "", f"not run: tenter was not built, see {log}"
    place = folder / row.name
    shutil.rmtree(place, ignore_errors=True)
    try:
        python = str(place / ("Scripts" if os.name == "nt" else "bin") / "python")
        needs = [need for name in row.tests for need in TESTS[name][1]]
        packages = [str(built), *row.packages, *((*TOOLS, *needs) if row.tests else ())]
        install = [python, "-m", "pip", "install", "-q", "--no-compile", *packages]
        if run([executable, "-m", "venv", str(place)], log) or run(install, log):
            return False, "", f"not run: {', '.join(row.packages)} cannot be installed, see {log}"
        return tests_of(row, python, log)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def tests_of(row: Row, python: str, log: Path) -> tuple[bool, str, str]:
    names = [re.split(r"[<>=\[]", package)[0] for package in ("numpy", *row.packages)]
    code = "import importlib.metadata as m, sys; print(*('%s %s' % (n, m.version(n)) for n in sys.argv[1:]), sep=', ')"
    versions = subprocess.run(
        [python, "-c", code, *dict.fromkeys(names)], capture_output=True, text=True
    ).stdout.strip()
    if not row.tests:
        status = run([python, "-c", IMPORTS], log)
    else:
        patterns = [pattern for name in row.tests for pattern in TESTS[name][0].split()]
        files = [str(file) for pattern in patterns for file in sorted((ROOT / "tests").rglob(pattern))]
        status = run([python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--tb=short", *files], log)
    said = [line for line in log.read_text().splitlines() if re.search(r"\d+ (passed|failed|error)", line)]
    result = re.sub(r"[=\s]*(.*?)( in [\d.]+s.*)?[=\s]*$", r"\1", said[-1]) if said else f"ended with {status}"
    return status == 0 and bool(said), versions, result if status == 0 else f"{result}; see {log}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of environments, with commas between")
    parser.add_argument("--list", action="store_true", help="names the environments and ends")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "versions", help="for environments and logs")
    given = parser.parse_args()
    wanted, known = [name for name in given.only.split(",") if name], rows()
    if unknown := set(wanted) - {row.name for row in known}:
        parser.error(f"--only: expected names of {', '.join(row.name for row in known)}, got {', '.join(unknown)}")
    chosen = [row for row in known if not wanted or row.name in wanted]
    if given.list:
        for row in chosen:
            print(f"{row.name:16} Python {row.python:5} {', '.join(row.packages)}")
        return 0
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for row in chosen:
        passed, versions, result = tried(row, folder)
        failed += not passed
        print(
            f"{'ok' if passed else 'FAILED':6} {row.name:16} Python {row.python:5} {versions:40} {result}", flush=True
        )
    print(f"{len(chosen) - failed} of {len(chosen)} environments passed")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())

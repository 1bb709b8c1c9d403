"""What tests and their programs find in the environment, how many processes run them, and fixtures of many files."""

from __future__ import annotations

import atexit
import contextlib
import gc
import locale
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

with contextlib.suppress(ImportError):  # on Windows
    import readline  # noqa: F401

# What a user or a CI asks of a terminal or of Python, which would change what the tests' programs print.
for name in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONWARNINGS", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)
    os.unsetenv(name)  # some of which readline sets when it is imported, and os.environ does not know

# Files and pipes hold UTF-8, whatever the locale says.
os.environ["PYTHONUTF8"] = "1"
if not sys.flags.utf8_mode and locale.getpreferredencoding(False).upper() != "UTF-8":
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
if sys.__stdin__ is None:  # closed; what pytest puts in the place of sys.stdin asks this one for its encoding
    sys.__stdin__ = open(os.devnull)  # noqa: SIM115

# What this process has made for all: the first of several, whose environment the others have.
MADE: list[str] = []


def folder_for(variable: str) -> str:
    MADE.append(tempfile.mkdtemp(prefix="tenter-tests-"))
    os.environ[variable] = MADE[-1]
    return MADE[-1]


# Many tests start processes, each of which would compile all that it imports where bytecode is not or cannot be written
# beside it.
if "PYTHONPYCACHEPREFIX" not in os.environ and (
    sys.dont_write_bytecode
    or not (os.access(Path(pytest.__file__).parent, os.W_OK) or os.path.exists(pytest.__cached__))
):
    sys.pycache_prefix = folder_for("PYTHONPYCACHEPREFIX")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Where libraries keep what they compile.
if not os.access(os.path.expanduser("~"), os.W_OK):
    folder_for("HOME")

# PyTorch's threads spin while they wait for one another. Several processes have more threads than there are cores, so
# they wait for threads that do not run: three times the work. Set before the library is loaded, for programs as well.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Of the instruction sets that the processor says it has, PyTorch's compiler tries each in each process: eight seconds.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

import needs  # noqa: E402
from tenter import _native  # noqa: E402


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Some for the default tests as a whole, else this one: `-m slow` takes the memory and `-m gpu` the device of one,
    and for a file or two others would start in vain."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not whole or config.option.markexpr != "not slow and not gpu" or config.option.collectonly:
        return 0
    return max(2, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


# The longest: half a minute, and a third of one in two processes that a whole file shares.
FIRST = ("test_the_laws_of_devices_hold_for_interpreted_kernels", "test_two_ranks")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: no other process waits for it in the end, or takes a part of it."""
    items.sort(key=lambda item: not item.name.startswith(FIRST))
    with contextlib.suppress(PackageNotFoundError):
        for test, need in needs.lacking(version("torch")).items():
            for item in items:
                if re.search(test, item.nodeid):
                    reason = f"needs PyTorch {'.'.join(map(str, need.first))}: {need.what}"
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The default tests need none of a device, whose modules take seconds to import."""
    return True if collection_path.name == "device" and "not gpu" in config.option.markexpr else None


def pytest_collection() -> None:
    gc.disable()  # imports and tests that are collected stay


def pytest_collection_finish() -> None:
    """No later search for garbage, which many tests ask for, looks at the libraries that they have imported."""
    gc.enable()
    gc.collect()
    gc.freeze()
    # For the interpreter's last search, after which nanobind names what is left. pytest's last searches come before.
    atexit.register(gc.unfreeze)


def pytest_unconfigure() -> None:
    for folder in MADE:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def answers_interrupts() -> Iterator[None]:
    """SIGINT raises: a process that a script starts in the background ignores it, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# The best level's tests are default tests, those of the others slow; the fuzzer and some laws always go through all.
LOWER = [] if os.environ.get("TENTER_TEST_LEVELS") == "all" else [pytest.mark.slow]
LEVELS = [pytest.param(name, marks=LOWER * (k > 0)) for k, name in enumerate(_native.testing.levels())]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each instruction set that this machine has."""
    assert _native.testing.force_level(request.param) and _native.level() == request.param
    yield request.param
    assert _native.testing.force_level("")


@pytest.fixture
def fresh_compiler() -> Iterator[None]:
    """PyTorch's compiler without what other tests have compiled, and without its warnings."""
    import torch

    import transforms

    with transforms.quiet():
        torch._dynamo.reset()
        yield
        torch._dynamo.reset()


# Programs that tests run in processes of their own import helpers.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(Path(__file__).parent / "helpers"), os.environ.get("PYTHONPATH")))
)


@pytest.fixture
def usual_thresholds() -> Iterator[None]:
    """For tests that change thresholds: the usual ones return, and maps made by others are dropped."""
    from tenter._specs import axis_maps

    yield
    _native.tuning.reset()
    axis_maps.cached_axis_map.cache_clear()

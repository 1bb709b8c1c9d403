"""The kernels' tests and the fuzzer on a core with a compiler's sanitizers.

    python -m tests.sanitize address [--levels v3,v4] [--minutes 5] [pytest's arguments]
    python -m tests.sanitize thread

`address`: -fsanitize=address,undefined, nothing out of bounds, used after its end or undefined; the tests below, then
tests/fuzz. `thread`: -fsanitize=thread, no races, on the core's own threads: PyTorch's OpenMP is not instrumented, so
every barrier of its would be reported. Both also verify what the kernels trust (native/rules/verify.hpp). Each instruction set
is a build of its own (build/sanitize-..., made with one job unless --jobs says otherwise), all that this machine has by
default. Needs GCC, nanobind, cmake and ninja.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = {"address": "address,undefined", "thread": "thread"}
LIBRARIES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}
# Runs of pytest: of the kernels' sweeps the slow tests too.
TESTS = {
    "address": [
        [
            "-m", "not gpu", "tests/kernels/test_kernels.py", "tests/kernels/test_loops.py", "tests/arrays/test_layouts.py",
            "tests/kernels/test_bounds.py", "tests/operations/test_counts.py", "tests/calls/test_changing_counts.py",
        ],
        [
            "tests/maps/test_maps.py", "tests/operations/test_resize_dtypes.py", "tests/kernels/test_verify.py", "tests/processes/test_concurrency.py",
            "tests/processes/test_exits.py", "tests/processes/test_races.py", "tests/kernels/test_long_axes.py", "tests/kernels/test_signals.py",
            "tests/kernels/test_nearest.py", "tests/kernels/test_bytes.py", "tests/kernels/test_byte_taps.py", "tests/calls/test_core_calls.py",
            "-k", "not scratch_that_cannot_be_had",  # sanitizers end the process where operator new should throw
        ],
    ],
    "thread": [
        ["-m", "not gpu", "tests/kernels/test_kernels.py", "tests/kernels/test_bounds.py"],
        [
            "tests/processes/test_races.py", "tests/kernels/test_verify.py", "tests/processes/test_concurrency.py", "tests/processes/test_exits.py",
            "-k", "not torch and not loader and not scratch",
        ],
        ["tests/kernels/test_signals.py", "tests/kernels/test_bytes.py", "-k", "not torch"],
    ],
}  # fmt: skip
OPTIONS = {
    # Python and its libraries keep memory until the process ends: what calls leave behind is counted by
    # tests/processes/test_failures.py. Address space is limited and memory refused by some tests on purpose.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=64:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # Children that are forked while threads run make threads of their own.
    "TSAN_OPTIONS": "die_after_fork=0:halt_on_error=1:second_deadlock_stack=1:suppressions={suppressions}",
    # Every object of Python's in memory of its own, and so with an end that is known. NumPy keeps freed memory of less
    # than 1 KiB for an array of the same size: its ends are known as well, its use after the end is not.
    "PYTHONMALLOC": "malloc",
}


def levels() -> list[str]:
    """Instruction sets that this machine has, least first; vnni is built with v4."""
    sys.path.insert(0, str(ROOT / "src"))
    from tenter import _native

    return [name for name in _native.testing.levels() if name != "vnni"]


def build(kind: str, level: str, jobs: int) -> Path:
    """A folder with the package and its core, sanitized."""
    folder = ROOT / "build" / f"sanitize-{kind}-{level}"
    settings = {
        "Python_EXECUTABLE": sys.executable, "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "TENTER_SANITIZE": FLAGS[kind], "TENTER_LEVELS": level,
    }  # fmt: skip
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *defined], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, f"-j{jobs}"], check=True)
    package = folder / "package" / "tenter"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "tenter", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for library in folder.glob("_core*.so"):
        shutil.copy(library, package / "_native")
    return package.parent


def environment(kind: str, package: Path, level: str) -> dict[str, str]:
    def found(name: str) -> str:
        path = subprocess.check_output([os.environ.get("CC", "gcc"), f"-print-file-name={name}"], text=True).strip()
        return str(Path(path).resolve())

    suppressions = ROOT / "tests" / "sanitize_thread.txt"
    options = {name: value.format(suppressions=suppressions) for name, value in OPTIONS.items()}
    log = str(package.parent / "report")
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        options[name] += f":log_path={log}"  # pytest would take what is written to its streams down with it
    preload = [found(name) for name in (*LIBRARIES[kind], "libstdc++.so")]  # the last: its exceptions are followed
    return {
        **os.environ,
        **options,
        "LD_PRELOAD": ":".join(preload),
        "PYTHONPATH": str(package),
        "TENTER_SANITIZED": kind,
    }


def check_import(kind: str, package: Path, level: str) -> None:
    """An editable installation is found before all paths, and would be tested in the sanitized core's place."""
    found = [sys.executable, "-c", "import tenter; print(tenter.__file__)"]
    where = subprocess.check_output(found, text=True, env=environment(kind, package, level)).strip()
    if not Path(where).is_relative_to(package):
        sys.exit(f"{where} is imported: run this in an environment without an editable tenter")


def run(command: list[str], kind: str, package: Path, level: str) -> bool:
    """Whether a command ends well, without a report."""
    for old in package.parent.glob("report.*"):
        old.unlink()
    # Without randomized addresses: ThreadSanitizer of GCC 12 knows fewer layouts than Linux has.
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    done = subprocess.run([*fixed, *command], cwd=ROOT, env=environment(kind, package, level))
    reports = sorted(package.parent.glob("report.*"))
    for report in reports[:3]:
        print(report.read_text(errors="replace")[:6000])  # what went to no stream
    print(f"{kind}, {level}: exit code {done.returncode}, {len(reports)} reports", flush=True)
    return done.returncode == 0 and not reports


def main() -> int:
    parser = argparse.ArgumentParser(description="The kernels' tests and the fuzzer on a sanitized core.")
    parser.add_argument("kind", choices=FLAGS)
    parser.add_argument("--levels", default="", help="instruction sets, as v3,v4; by default all of this machine")
    parser.add_argument("--minutes", type=float, default=2, help="of the fuzzer, for each instruction set")
    parser.add_argument("--jobs", type=int, default=1, help="of the build")
    given, for_pytest = parser.parse_known_args()
    clean = True
    for level in given.levels.split(",") if given.levels else levels():
        package = build(given.kind, level, given.jobs)
        check_import(given.kind, package, level)
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys"]
        for chosen in [for_pytest] if for_pytest else TESTS[given.kind]:
            clean &= run([*pytest, *chosen], given.kind, package, level)
        if given.kind == "address" and not for_pytest and (ROOT / "tests" / "fuzz").is_dir():
            fuzz = [sys.executable, "-m", "tests.fuzz", "--minutes", str(given.minutes)]
            clean &= run(fuzz, given.kind, package, level)
    print("clean" if clean else "not clean")
    return 0 if clean else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""The tests on Arm, on a machine that is not one: the core is cross compiled, and runs under QEMU.

    python -m tests.arm [--levels portable,neon,i8mm] [--fuzz 2000] [--digest 3000] [--folder build/arm] [files of tests]
    python -m tests.arm --run script.py ...

Needs x86-64 Linux with Debian's apt-get, pip, CMake, Ninja, and the Python version that Debian has. Debian's packages
(GCC for Arm, QEMU, and a root folder of arm64) and PyPI's (NumPy, PyTorch and what the tests compare with) are unpacked
below `--folder`: nothing is installed, and nothing is registered with the system. `--levels` names what the processor
that QEMU imitates has: `portable` is a build without NEON's kernels. `--fuzz` and `--digest` say how many random calls
are made at each level: by the fuzzer, and compared with the same calls on this machine at its level v3, whose bits NEON
must give (`portable`, which has no fused multiply-add, need not). `--run` runs a Python program on Arm.

A few files of default tests are a step, as imports cost more than most files, and so are the fuzzer and the digest. What
has passed is noted in `--folder`/passed, with a hash of the code: started again, it goes on with the steps that are left.
`--again` runs all of them.
"""

from __future__ import annotations

import argparse
import filecmp
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
HOST = "/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# PyTorch for Arm needs CUDA's libraries from 2.11 on, which take gigabytes.
TORCH = (2, 10)
PACKAGES = (
    "numpy", "scipy", "pillow>=12.3", "opencv-python-headless", f"torch=={TORCH[0]}.{TORCH[1]}.0", "expecttest", "matplotlib>=3.8",
    "pandas>=2.1", "array-api-strict>=2.0", "dask[array]>=2024.1", "pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100",
)  # fmt: skip
# By level: the levels that are compiled, best first, and the processor.
LEVELS = {
    "portable": ("portable", "neoverse-n1"),
    "neon": ("i8mm;neon", "neoverse-n1"),
    "i8mm": ("i8mm;neon", "max,sve=off"),
}
FILES_PER_STEP = 8
# What reads most of the kernels comes first.
TESTS = (
    "kernels/test_loops.py", "kernels/test_kernels.py", "kernels/test_byte_taps.py", "kernels/test_bytes.py", "pytorch/test_torch_normalized.py",
    "kernels/test_small_images.py", "calls/test_core_repeats.py", "kernels/test_short_rows.py", "kernels/test_equal_sums.py", "kernels/test_factors.py",
    "maps/test_maps.py", "ragged/test_ragged.py", "ragged/test_ragged_reductions.py", "kernels/test_signals.py", "rules/test_filters.py",
    "rules/test_pillow.py", "kernels/test_nearest.py", "operations/test_resize_dtypes.py", "kernels/test_few_taps.py", "arrays/test_layouts.py", "kernels/test_streaming.py",
    "calls/test_changing_counts.py", "operations/test_numpy_suite.py", "kernels/test_long_axes.py", "rules/test_exact_positions.py", "operations/test_resize.py",
    "pytorch/test_torch.py", "operations/test_gradients.py", "ragged/test_ragged_torch.py", "kernels/test_verify.py", "operations/test_values.py", "kernels/test_long_rows.py",
)  # fmt: skip
# What PyTorch 2.10 lacks, and compiled code, whose compiler the root has not; in pytest's language.
NOT_FITTING = (
    "test_integers_beside_a_value", "test_equals_torch_in_float64 and lanczos", "test_gradients_equal_torch",
    "test_a_pytorch_without_the_private_names_has_the_same_results", "test_indices_in_compiled_code",
    "test_values_and_gradients_in_compiled_code", "test_a_plan_that_does_not_know_its_total_names_the_call",
    "test_wrong_lengths_are_refused_in_compiled_code",
)  # fmt: skip
# What else than tenter decides the bits of a random call: long double, exponentials and powers of NumPy and PyTorch,
# signs of the NaNs that infinities make, and values past the edges in dtypes that PyTorch 2.10's `where` lacks.
NOT_COMPARED = re.compile("longdouble|softmax|linear_light|'special'|'extreme'|(?s:'torch', 'uint(16|32|64)'.*value=)")
# Imported as every Python starts: on Arm PyTorch is older than tenter promises; on this machine v3 is the level.
ON_ARM = f"from tenter._arrays import oldest_versions\npromised.OLDEST['PyTorch'] = {TORCH}\n"
ON_V3 = "from tenter import _native\nassert _native.testing.force_level('v3')\n"


class Arm:
    """The folders of an Arm machine that QEMU imitates."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        self.tools, self.root, self.env = self.folder / "tools", self.folder / "root", self.folder / "env"
        self.python = self.env / "bin" / "python"
        self.site = self.env / "lib" / PYTHON / "site-packages"
        self.packages: dict[str, Path] = {}  # by levels, what this process has built

    def make(self) -> None:
        """Everything but the core, once: what is there is taken as it is."""
        if not (self.folder / "made").exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self._unpack("amd64", self.tools, "qemu-user", "g++-aarch64-linux-gnu")
            self._unpack("arm64", self.root, PYTHON, f"lib{PYTHON}-dev", "libc6-dev", "libstdc++6", "libgomp1")
            for script in (self.tools / "usr/aarch64-linux-gnu/lib").glob("*.so"):  # linker scripts name absolute paths
                if b"GNU ld script" in (text := script.read_bytes()[:4096]):
                    script.write_bytes(text.replace(b"/usr/aarch64-linux-gnu/lib/", b""))
            self._make_environment()
            (self.folder / "made").touch()

    def _unpack(self, architecture: str, to: Path, *packages: str) -> None:
        """Debian's packages, and what they need that this machine lacks; of another architecture everything."""
        debs, state = self.folder / "debs" / architecture, self.folder / "state" / architecture
        for needed in (debs / "partial", state / "lists" / "partial", state / "cache", to):
            needed.mkdir(parents=True)
        options = ["-q", "-y", "-o", f"Dir::Cache::archives={debs}", "-o", f"Dir::Cache={state / 'cache'}"]
        # Only folders of its own are written, so that the lock of the system's packages is not needed.
        options += ["-o", f"Dir::State={state}", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=true"]
        if architecture == "amd64":
            options += ["-o", "Dir::State::status=/var/lib/dpkg/status"]
        else:
            (state / "status").touch()
            options += ["-o", f"Dir::State::status={state / 'status'}", "-o", f"APT::Architecture={architecture}"]
            options += ["-o", f"APT::Architectures={architecture}"]
        for command in (["update"], ["install", "--no-install-recommends", "--download-only", *packages]):
            subprocess.run(["apt-get", *options, *command], check=True, stdout=subprocess.DEVNULL)
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", deb, to], check=True)

    def _make_environment(self) -> None:
        """A virtual environment whose Python is a script, as the system then starts it from anywhere as a program."""
        self.python.parent.mkdir(parents=True)
        self.site.mkdir(parents=True)
        emulator = f"{HOST} --library-path {self.tools / LIBRARIES} {self.tools}/usr/bin/qemu-aarch64"
        self.python.write_text(
            f'#!/bin/sh\nexec {emulator} -L {self.root} -0 {self.python} $QEMU_OPTIONS {self.root}/usr/bin/{PYTHON} "$@"\n'
        )
        self.python.chmod(0o755)
        (self.env / "pyvenv.cfg").write_text(f"home = {self.root}/usr/bin\ninclude-system-site-packages = false\n")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-compile"]
        subprocess.run([*pip, "--target", self.site, "pip"], check=True)
        subprocess.run([self.python, *pip[1:], *PACKAGES], check=True, env=self.environment())

    def environment(self, cpu: str = "max", *path: Path) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")}
        slow = {"OMP_NUM_THREADS": "2", "TENTER_PATIENCE": "10"}
        return {**kept, **slow, "QEMU_CPU": cpu, "PYTHONPATH": os.pathsep.join(map(str, path))}

    def build(self, levels: str, jobs: int = 1) -> Path:
        """A folder with the package, cross compiled."""
        folder = self.folder / f"build-{levels.replace(';', '-')}"
        toolchain = self.folder / "toolchain.cmake"
        [compiler] = self.tools.glob("usr/bin/aarch64-linux-gnu-g++-[0-9]*")
        toolchain.write_text(
            "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
            f"set(CMAKE_CXX_COMPILER {compiler})\nset(CMAKE_SYSROOT {self.root})\n"
        )
        settings = {
            "CMAKE_TOOLCHAIN_FILE": toolchain, "CMAKE_BUILD_TYPE": "Release", "TENTER_LEVELS": levels,
            "Python_EXECUTABLE": sys.executable,
            "Python_INCLUDE_DIR": self.root / "usr/include" / PYTHON,
            # nanobind would take the name from the Python that runs CMake.
            "SKBUILD_SOABI": f"cpython-{PYTHON[6:].replace('.', '')}-aarch64-linux-gnu",
        }  # fmt: skip
        with_libraries = {**os.environ, "LD_LIBRARY_PATH": str(self.tools / LIBRARIES)}
        define = [f"-D{name}={value}" for name, value in settings.items()]
        for command in (["-S", ROOT, "-B", folder, "-G", "Ninja", *define], ["--build", folder, f"-j{jobs}"]):
            subprocess.run(["cmake", *command], check=True, env=with_libraries, stdout=subprocess.DEVNULL)
        package = folder / "package" / "tenter"
        shutil.copytree(
            ROOT / "src" / "tenter", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"),
            copy_function=copy_changed, dirs_exist_ok=True,
        )  # fmt: skip
        [core] = folder.glob("_core*aarch64*.so")
        copy_changed(core, package / "_native" / core.name)
        return package.parent

    def run(
        self, level: str, *arguments: str | Path, options: str = "", jobs: int = 1, capture: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """A program of Arm's Python; options: QEMU's."""
        levels, cpu = LEVELS[level]
        if levels not in self.packages:
            self.packages[levels] = self.build(levels, jobs=jobs)
        path = self.packages[levels], with_site(self.folder / "on-arm", ON_ARM)
        environment = {**self.environment(cpu, *path), "QEMU_OPTIONS": options}
        command = [self.python, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=capture, text=True)


def copy_changed(source: str | Path, to: str | Path) -> None:
    """A program that runs meanwhile keeps what it has loaded."""
    if not Path(to).exists() or not filecmp.cmp(source, to, shallow=False):
        shutil.copy(source, to)


def with_site(folder: Path, code: str) -> Path:
    """A folder whose code runs as every Python starts that has it on its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return folder


def tested(arm: Arm, level: str, files: list[str], fuzz: int, digest: int, jobs: int, again: bool) -> list[str]:
    """What failed at a level."""
    failed = []
    has = f"from tenter import _native; assert _native.level() == {level!r}, _native.testing.levels()"
    pytest = ["-m", "pytest", "-q", "-n", str(jobs if jobs > 1 else 0), "-p", "no:cacheprovider", "--tb=short"]
    # Kernels are tested at each level that the processor has: once for NEON's.
    left_out = (*NOT_FITTING, "neon") if level == "i8mm" else NOT_FITTING
    pytest += ["-k", " and ".join(f"not ({name})" for name in left_out)]
    steps: dict[str, Callable[[], list[str | Path]]] = {"level": lambda: ["-c", has]}
    named = files or [f"tests/{name}" for name in TESTS]
    for k in range(0, len(named), FILES_PER_STEP):
        several = named[k : k + FILES_PER_STEP]
        steps[" ".join(several)] = partial(list, [*pytest, *several])
    if fuzz and not files:
        fuzzed = ["-m", "tests.fuzz", "--calls", str(fuzz), "--jobs", str(jobs), "--limit", "60"]
        steps[f"fuzzer {fuzz}"] = partial(list, fuzzed)
    if digest and not files and level != "portable":
        compared = ["-m", "tests.digest", "--close", "--jobs", str(jobs), "--compare"]
        steps[f"digest {digest}"] = lambda: [*compared, digest_of_v3(arm, digest)]
    noted = arm.folder / "passed"
    for name, arguments in steps.items():
        line = f"{level} {name} {code(name)}"
        if not again and noted.exists() and line in noted.read_text().splitlines():
            print(f"{level}: {name}: passed before", flush=True)
            continue
        status = arm.run(level, *arguments(), jobs=jobs).returncode
        print(f"{level}: {name}: {'ok' if status == 0 else f'FAILED, exit status {status}'}", flush=True)
        if status:
            failed.append(f"{level}: {name}")
        elif name != "level":
            with noted.open("a") as file:
                file.write(f"{line}\n")
    return failed


def code(step: str) -> str:
    """A hash of what a step depends on: all files of the package, the core and the tests, but no other file of tests."""
    made = hashlib.sha256()
    for top in ("CMakeLists.txt", "native", "src/tenter", "tests"):
        place = ROOT / top
        for file in [place] if place.is_file() else sorted(place.rglob("*.[chpt]*")):
            name = str(file.relative_to(ROOT))
            other = name.startswith("tests/") and file.name.startswith("test_") and name not in step.split()
            if file.is_file() and not other and "__pycache__" not in name:
                made.update(name.encode() + file.read_bytes())
    return made.hexdigest()[:16]


def digest_of_v3(arm: Arm, calls: int) -> Path:
    """What this machine's level v3 makes of random calls, those that can be compared."""
    file = arm.folder / f"v3-{calls}.gz"
    path = os.pathsep.join([str(with_site(arm.folder / "on-v3", ON_V3)), str(ROOT / "src")])
    command = [sys.executable, "-m", "tests.digest", "--calls", str(calls), "--seed", "0", "--write", file]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.DEVNULL)
    with gzip.open(file, "rt") as made:
        kept = [line for line in made if is_compared(json.loads(line))]
    with gzip.open(file, "wt") as compared:
        compared.writelines(kept)
    return file


def is_compared(call: dict[str, str]) -> bool:
    """Not an error that prints an address: it is cut at a length, and Arm's addresses have other lengths."""
    return not NOT_COMPARED.search(call.get("source", "")) and " at 0x" not in call.get("said", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--fuzz", type=int, default=2000, metavar="CALLS")
    parser.add_argument("--digest", type=int, default=3000, metavar="CALLS")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "arm", help="for everything that is made")
    parser.add_argument("--jobs", type=int, default=1, help="of the compiler, of pytest and of the fuzzer")
    parser.add_argument("--again", action="store_true", help="also what has passed on this code")
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="a program for Arm's Python, with its arguments")
    parser.add_argument("files", nargs="*", help="files of tests, in place of all")
    given = parser.parse_args()
    levels = given.levels.split(",")
    if unknown := set(levels) - set(LEVELS):
        parser.error(f"--levels: expected {', '.join(LEVELS)}, got {', '.join(unknown)}")
    arm = Arm(given.folder)
    arm.make()
    if given.run:
        return arm.run(levels[-1], *given.run, jobs=given.jobs).returncode
    failed = [
        line
        for level in levels
        for line in tested(arm, level, given.files, given.fuzz, given.digest, given.jobs, given.again)
    ]
    print("\n".join(failed) or f"all passed: {', '.join(levels)}")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())

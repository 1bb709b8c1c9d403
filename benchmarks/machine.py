"""Where and how it is measured."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import tenter
from benchmarks import peers
from tenter import _native
from tenter.configuration import huge_pages


class Settings(NamedTuple):
    """seconds: at least, per row and peer. only: text that the names of what is measured contain."""

    threads: int
    seconds: float
    bandwidth: float
    only: str = ""

    def wants(self, group: str, name: str) -> bool:
        return self.only.lower() in f"{group}: {name}".lower()


def machine(settings: Settings) -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": cores(),
        "threads": settings.threads,
        "instruction_set": _native.level(),
        "copy_bandwidth_gb_per_s": round(settings.bandwidth / 1e9, 2),
        "transparent_huge_pages": huge_pages(),
        "versions": {"python": platform.python_version(), "tenter": tenter.__version__, **peers.versions()},
        "system": f"{platform.system()} {platform.machine()}",
        **now(),
        "seconds_per_row_and_peer": settings.seconds,
    }


def now() -> dict[str, str]:
    """The date and, if Git knows it, the commit of what is measured. Changed code adds a "+"."""
    found = {"date": datetime.date.today().isoformat()}

    def git(*args: str) -> str:
        root = Path(__file__).resolve().parent.parent
        return subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = git("rev-parse", "--short", "HEAD")
        # Benchmarks write pages: the second of a series would see the first one's.
        changed = git("status", "--porcelain", "--", "src", "native", "benchmarks", "CMakeLists.txt")
    except (OSError, subprocess.CalledProcessError):
        return found
    return {**found, "commit": commit + "+" * bool(changed)}


def when(about: dict[str, Any]) -> str:
    return f"{about['date']}, commit {about['commit']}" if "commit" in about else str(about["date"])


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    names = [line.partition(":")[2].strip() for line in lines("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def processor_of(about: dict[str, Any]) -> str:
    """Of a recorded machine, with the instructions that tenter uses there: x86-64-v3 is AVX2, x86-64-v4 AVX-512."""
    level = about["instruction_set"]
    return f"{about['processor']} ({'x86-64-' * (level in ('v2', 'v3', 'v4'))}{level})"


def free_memory() -> int:
    """Bytes; where the system does not say, no bound."""
    sizes = [line.split()[1] for line in lines("/proc/meminfo") if line.startswith("MemAvailable")]
    return int(sizes[0]) * 1024 if sizes else 2**63


def lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def brief(about: dict[str, Any], libraries: tuple[str, ...] = ("torch", "numpy")) -> str:
    """What a table of these libraries needs."""
    versions = ", ".join(f"{name} {about['versions'][name]}" for name in libraries)
    threads = f"{about['threads']} thread{'s' * (about['threads'] != 1)}"
    return f"{processor_of(about)}, {threads}, {versions}; {when(about)}."


def sentence(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    threads = f"{about['threads']} thread{'s' * (about['threads'] != 1)}"
    return (
        f"{processor_of(about)}, {threads} on {about['cores']} cores, copy bandwidth "
        f"{about['copy_bandwidth_gb_per_s']} GB/s, transparent huge pages: {about['transparent_huge_pages']}; "
        f"{versions}; {about['system']}; {when(about)}."
    )

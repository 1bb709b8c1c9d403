"""Limits of a process's memory, in Linux."""

from __future__ import annotations

import resource
from pathlib import Path


def allow(spare: int) -> None:
    """So many bytes more than the process has."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + spare, -1))


def allow_all() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))

"""The oldest versions that tenter works with; pyproject.toml has the same."""

import re

OLDEST = {"NumPy": (1, 25), "PyTorch": (2, 13), "JAX": (0, 9), "Dask": (2024, 1), "zarr": (3, 1, 5)}


def check(library: str, version: str) -> None:
    """Where a library is imported, before what an older one lacks is asked for."""
    oldest = OLDEST[library]
    found = tuple(int(number) for number in re.findall(r"\d+", version)[: len(oldest)])
    if found < oldest:
        raise ImportError(f"tenter: expected {library} {'.'.join(map(str, oldest))} or newer, got {library} {version}")

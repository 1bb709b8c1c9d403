"""The oldest versions that tenter works with; pyproject.toml has the same."""

import re

OLDEST = {"NumPy": (1, 25), "PyTorch": (2, 13), "JAX": (0, 9), "Dask": (2024, 1), "zarr": (3, 1, 5)}


def too_old(library: str, version: str) -> bool:
    oldest = OLDEST[library]
    return tuple(int(number) for number in re.findall(r"\d+", version)[: len(oldest)]) < oldest


def check(library: str, version: str) -> None:
    """Where a library is imported, before what an older one lacks is asked for."""
    if too_old(library, version):
        expected = f"{library} {'.'.join(map(str, OLDEST[library]))} or newer"
        raise ImportError(f"tenter: expected {expected}, got {library} {version}")

"""The oldest versions that tenter works with. pyproject.toml says the same."""

import re

OLDEST = {"NumPy": (1, 25), "PyTorch": (2, 6), "Triton": (3, 4), "JAX": (0, 6), "Dask": (2024, 1), "zarr": (3, 0, 8),
          "Pillow": (12, 1), "tifffile": (2024, 8, 10)}  # fmt: skip


def older(version: str, than: tuple[int, ...]) -> bool:
    return tuple(int(number) for number in re.findall(r"\d+", version)[: len(than)]) < than


def too_old(library: str, version: str) -> bool:
    return older(version, OLDEST[library])


def check(library: str, version: str) -> None:
    """Raises ImportError if a library is too old. It runs where the library is imported, before newer names are
    used."""
    if too_old(library, version):
        expected = f"{library} {'.'.join(map(str, OLDEST[library]))} or newer"
        package = {"PyTorch": "torch"}.get(library, library.lower())
        raise ImportError(f"tenter: expected {expected}, got {library} {version} (pip install --upgrade {package})")

"""What a report of a defect needs to say about tenter and the machine."""

import mmap
import platform

from tenter import _native
from tenter._arrays import thread_count
from tenter._arrays.oldest_versions import OLDEST, too_old

__all__ = ["show_config"]

# Packages by the names of their distributions, and the libraries whose oldest version is promised.
BACKENDS = {"numpy": "NumPy", "torch": "PyTorch", "triton": "", "jax": "JAX", "dask": "Dask", "zarr": "zarr"}
BACKENDS |= {"pillow": "Pillow", "tifffile": "tifffile", "imagecodecs": "", "pyarrow": "", "scipy": ""}


def show_config() -> None:
    """Prints the version, the instruction set, the number of threads and what set it, the size of pages, and the
    libraries found.

    A report of a defect should contain it; `tenter --version` prints the same.

    See Also
    --------
    get_num_threads : The number of threads.

    Examples
    --------
    >>> show_config()  # doctest: +ELLIPSIS
    tenter ...
    instruction set: ...
    """
    print(configuration())


def configuration() -> str:
    """The lines of `show_config`."""
    n = thread_count.thread_count()
    lines = {
        f"tenter {version()}": f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        "instruction set": _native.level(),
        "threads": f"{n} ({thread_count.source()})",
        "pages": f"{mmap.PAGESIZE} bytes, transparent huge pages: {huge_pages()}",
        "libraries": ", ".join(found(name, library) for name, library in BACKENDS.items()),
    }
    return "\n".join(f"{name}: {said}" for name, said in lines.items())


def version() -> str:
    """That of the installed package."""
    return installed("tenter") or "(not installed)"


def found(name: str, library: str) -> str:
    """A package and its version, without an import, which may take seconds."""
    its = installed(name)
    if its is None:
        return f"no {name}"
    if library and too_old(library, its):
        return f"{name} {its} (too old: {'.'.join(map(str, OLDEST[library]))} or newer is needed)"
    return f"{name} {its}"


def installed(name: str) -> str | None:
    from importlib import metadata  # which takes as long to import as half of the command

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def huge_pages() -> str:
    """Linux's setting, which it shows in brackets: always [madvise] never."""
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
            shown = file.read()
    except OSError:
        return "unknown"
    return shown.partition("[")[2].partition("]")[0] or "unknown"

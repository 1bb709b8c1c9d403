"""Arrays on disk that change between a kill of a command and its continuation: the result is that of the last input."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .call import Call
from .draw import Draw
from .oracle import Wrong


def continued(seed: int) -> int:
    """A command that is killed several times, while its input changes. Returns the number of kills."""
    r, here = Draw(seed), os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        state = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(Path(folder, "state"))
        os.chdir(folder)
        try:
            return _continued(r)
        finally:
            os.chdir(here)
            os.environ.pop("XDG_STATE_HOME") if state is None else os.environ.update(XDG_STATE_HOME=state)


def _continued(r: Draw) -> int:
    shape = tuple(r.int(4, 24) for _ in range(r.int(1, 3)))
    how = _stored(r, len(shape))
    _make(r, shape, how)
    args = _command(r, shape)
    kills = 0
    for _ in range(r.int(1, 3)):
        kills += _run(args, r.int(1, 12)) == -signal.SIGKILL
        if Path(args[2]).exists():
            break
        for _ in range(r.int(0, 2)):
            _change(r, shape, how)
    if not Path(args[2]).exists():
        code = _run(args, 0)
        if code and _run([*args, "--force"], 0):
            raise Wrong("not continued", f"exit code {code}: {args}")
        if code == 0:
            os.rename(args[2], "continued")  # the name is in metadata
            if _run(args, 0) or _tree(args[2]) != _tree("continued"):
                raise Wrong("a mixture", f"{args} of {shape} {how}, after {kills} kills")
    return kills


def _stored(r: Draw, ndim: int) -> dict[str, Any]:
    chunks = tuple(r.int(1, 3) * 2 for _ in range(ndim))
    how: dict[str, Any] = {"chunks": chunks, "zarr_format": r.pick((2, 3)), "dtype": r.pick(("uint8", "uint16", "<f4"))}
    if r.chance(0.6):
        how["compressors"] = None  # so that sizes of files stay the same
    if how["zarr_format"] == 3 and r.chance(0.3):
        how["shards"] = tuple(c * r.int(1, 2) for c in chunks)
    return how


def _values(r: Draw, shape: tuple[int, ...]) -> Any:
    return r.rng.integers(0, 200, shape) * r.int(0, 1)  # chunks of zeros are not stored


def _make(r: Draw, shape: tuple[int, ...], how: dict[str, Any]) -> None:
    import zarr

    zarr.create_array("in.zarr", shape=shape, overwrite=True, **how)[...] = _values(r, shape)


def _command(r: Draw, shape: tuple[int, ...]) -> list[str]:
    axes = ",".join(map(str, range(len(shape))))
    more = ["--threads", r.pick(("1", "2"))]
    if len(shape) > 1 and r.chance(0.3):
        return ["pyramid", "in.zarr", "out.zarr", "--axes", axes, "--levels", "2", *more]
    mode = r.pick(("linear", "area", "nearest", "cubic"))
    scale = r.pick(("0.5", "0.7", "1.3"))
    return [
        "resize",
        "in.zarr",
        r.pick(("out.zarr", "out.npy")),
        "--axes",
        axes,
        "--scale",
        scale,
        "--mode",
        mode,
        *more,
    ]


def _run(args: list[str], steps: int) -> int:
    """The command in a fork, which kills itself at one of its operations on files; 0: which ends by itself."""
    child = os.fork()
    if not child:
        code = 99
        try:
            from tenter.cli.main import main
            from tenter.cli.volumes import blocks, memory

            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            blocks._larger = lambda *_: None  # small arrays have several blocks, too
            memory.resident = lambda: 100 << 20
            if steps:
                _kill_at_write(steps)
            code = main(args)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_at_write(steps: int) -> None:
    from tenter.cli.volumes import npy, zarrs

    left = [steps]
    for kind in (zarrs.ZarrArray, npy.NpyFile):

        def write(self: Any, *args: Any, before: Callable[..., None] = kind.write) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            before(self, *args)

        kind.write = write  # type: ignore[method-assign]


def _change(r: Draw, shape: tuple[int, ...], how: dict[str, Any]) -> None:
    """Something happens to the input, and files may get their old times back."""
    import zarr

    files = [path for path in Path("in.zarr").rglob("*") if path.is_file()]
    chunks = [path for path in files if not path.name.startswith((".z", "zarr"))]
    times = {path: path.stat().st_mtime_ns for path in files}
    what = r.pick(("part", "all", "new", "less", "swap", "copy", "nothing"))
    if what == "part":
        box = tuple(slice(lo := r.int(0, n - 1), r.int(lo + 1, n)) for n in shape)
        zarr.open_array("in.zarr")[box] = r.int(0, 99)
    elif what == "all":
        zarr.open_array("in.zarr")[...] = _values(r, shape)
    elif what == "new":
        _make(r, shape, how)
    elif what == "less" and chunks:
        r.pick(chunks).unlink()
    elif what == "swap" and len(chunks) > 1 and how["zarr_format"] == 2:
        one, other = r.some(chunks, 2)
        os.rename(one, "held")
        os.rename(other, one)
        os.rename("held", other)
    elif what == "copy":
        shutil.copytree("in.zarr", "copy.zarr")
        shutil.rmtree("in.zarr")
        os.rename("copy.zarr", "in.zarr")
    if r.chance(0.7):
        for path, time in times.items():
            if path.exists():
                os.utime(path, ns=(time, time))


def _tree(name: str) -> Any:
    if Path(name).is_file():
        return Path(name).read_bytes()
    return {str(path.relative_to(name)): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()}


def change(r: Draw) -> Call:
    return Call("", f"y = volumes.continued({r.int(0, 1 << 40)})", {}, _any_number, repeats=False)


def _any_number(y: Any) -> None:
    if not 0 <= y <= 3:
        raise Wrong("kills", str(y))


IS_THERE = importlib.util.find_spec("zarr") is not None
KINDS: dict[str, tuple[Any, float]] = {"inputs that change": (change, 0.05)} if IS_THERE else {}

"""The folder of a zarr array: which files zarr may read there, what its errors name, and when its calls have ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tenter.cli.refusal import Refusal
from tenter.cli.volumes.inside import check_file

GROUP = ".zgroup"
ROOTS = ("zarr.json", ".zarray", GROUP)
ATTRIBUTES = ".zattrs"
METADATA = (*ROOTS, ATTRIBUTES, ".zmetadata")
#: Bytes of a file of metadata. The largest are those that hold the metadata of all members of a group.
MOST_METADATA = 256 << 20
#: The name of tasks that wait for others.
WAITING = "tenter waits"


@contextlib.contextmanager
def ended() -> Iterator[None]:
    """Calls of zarr, which have ended when they have failed: zarr itself leaves what else it was reading and writing
    for the call running. That would write files later, and print lines when the process ends."""
    try:
        yield
    except Exception:
        if (loop := _loops.get(os.getpid())) is not None and loop.is_running():
            asyncio.run_coroutine_threadsafe(_others(), loop).result()
        raise


async def _others() -> None:
    """Wait for all that is running now, except for what other threads wait by."""
    this = asyncio.current_task()
    assert this is not None
    this.set_name(WAITING)
    if others := {task for task in asyncio.all_tasks() if task.get_name() != WAITING}:
        await asyncio.wait(others)


#: In which loop zarr does its work, by process: a fork has another one.
_loops: dict[int, asyncio.AbstractEventLoop] = {}


@cache
def checked() -> Any:
    """The class of a store that reads only regular files in its folder. It also refuses an empty file, which zarr
    3.1 takes for a shard of missing chunks. Its errors name the files. Made late, as its base is zarr's."""
    import zarr

    class Checked(zarr.storage.LocalStore):
        #: Bytes that a file of chunks may have.
        most: int | None = None
        #: Where files are written before they get their names; None: in their final folder.
        temporary: Path | None = None
        #: What the user calls its folder.
        name = ""

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            is_metadata = os.path.basename(key) in METADATA
            with self._naming(key):
                check_file(str(self.root), key, MOST_METADATA if is_metadata else self.most)
                found = await super().get(key, prototype, byte_range)
            if found is not None and os.path.basename(key) == GROUP:
                return type(found).from_bytes(_with_number(found.to_bytes()))
            if found is None or is_metadata:
                return found
            if not len(found):
                raise Refusal("the file is empty")
            return found

        async def set(self, key: str, value: Any, *args: Any) -> None:
            with self._naming(key):
                if self.temporary is None:
                    await super().set(key, value, *args)
                    return
                (made := self.temporary / "metadata").write_bytes(value.to_bytes())
                os.replace(made, self.root / key)

        async def delete(self, key: str) -> None:
            with self._naming(key):
                await super().delete(key)

        @contextlib.contextmanager
        def _naming(self, key: str) -> Iterator[None]:
            """The system names a temporary file, or none."""
            _loops[os.getpid()] = asyncio.get_running_loop()
            try:
                yield
            except OSError as error:
                name = f"{self.name or self.root}/{key}"
                raise OSError(error.errno, error.strerror or str(error), name) from error

    return Checked


def _with_number(text: bytes) -> bytes:
    """The metadata of a group of version 2 with its version as a number: WEBKNOSSOS writes a text, which zarr
    refuses."""
    try:
        said = json.loads(text)
        return json.dumps({**said, "zarr_format": int(said["zarr_format"])}).encode()
    except (ValueError, TypeError, KeyError):
        return text  # of which zarr says what is wrong

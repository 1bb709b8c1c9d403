"""A job in a store that is no folder, such as a bucket: as `job.py`, of what every store has.

The arrays are made in their places, and the group says that they are its levels once all is done. Until then a member
of the group, PART, has attributes that say what the job is and which blocks are written. An attribute is written as a
whole, at each `keep`. There is no lock.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenter._parts.boxes import Box

if TYPE_CHECKING:
    import zarr

PART = "tenter-part"


class StoreJob:
    """The open job of a group. problem: why another process cannot continue it; empty if it can."""

    def __init__(self, group: zarr.storage.StorePath, about: dict[str, Any]) -> None:
        self.group, self.about = group, about
        self.folder = Path(f"{group}/{PART}")  # for messages
        can_replace = group.store.supports_deletes
        self.problem = "" if can_replace else f"{group}: nothing in this store can be replaced"
        self._lock = threading.Lock()
        self._state = self._read() if can_replace else {}

    @property
    def is_known(self) -> bool:
        return bool(self._state.get("about") == self.about)

    @property
    def is_other(self) -> bool:
        return self._state.get("about") not in (None, self.about)

    @property
    def is_kept(self) -> bool:
        return not self.problem

    def begin(self) -> None:
        self._state = {}

    def record(self) -> None:
        import zarr

        self._state = {"about": self.about, "done": []}
        if self.is_kept:
            format_ = zarr.open_group(self.group, mode="r").metadata.zarr_format
            zarr.create_group(self.group / PART, overwrite=True, attributes=self._state, zarr_format=format_)

    @property
    def is_finished(self) -> bool:
        return "finished" in self._state

    def finish(self) -> None:
        self._state["finished"] = True
        self._write()

    def open_journal(self) -> None:
        pass

    def add(self, task: int, block: Box, source: str) -> None:
        self._state["done"].append([task, block, source])

    def keep(self) -> None:
        self._write()

    def done(self, task: int) -> Iterator[tuple[Box, str]]:
        return (
            (tuple((lo, hi) for lo, hi in block), source)
            for number, block, source in self._state["done"]
            if number == task
        )

    def end(self) -> None:
        self.forget()

    def release(self) -> None:
        if "about" in self._state:
            with contextlib.suppress(Exception):  # an error is on its way
                self._write()

    def forget(self) -> None:
        import zarr

        self._state = {}
        with contextlib.suppress(FileNotFoundError):
            if self.is_kept and PART in (group := zarr.open_group(self.group, mode="r+")):
                del group[PART]

    def leave_nothing(self) -> None:
        self.forget()

    def _read(self) -> dict[str, Any]:
        import zarr

        try:
            return dict(zarr.open_group(self.group / PART, mode="r").attrs)
        except FileNotFoundError:
            return {}

    def _write(self) -> None:
        if not self.is_kept:
            return
        import zarr

        with self._lock:
            state = {**self._state, "done": list(self._state["done"])}  # threads add to the list meanwhile
            zarr.open_group(self.group / PART, mode="r+").attrs.put(state)

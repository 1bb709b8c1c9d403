"""Maps' tables on a device: sent there once, kept with the map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tenter._kernels.triton import launch
from tenter.maps import Window

REAL = {"float32": np.float32, "float64": np.float64}
Array = npt.NDArray[Any]


class Sent:
    """Copies of arrays on a device, which nobody has waited for."""

    def __init__(self, arrays: Sequence[Array], device: torch.device) -> None:
        tensors = [torch.from_numpy(a.copy()) for a in arrays]  # a copy, as maps' arrays can't be written to
        if device.type == "cpu":
            self.tensors = tensors
            return
        launch.refuse_under_capture()
        with torch.cuda.device(device):
            # From pinned memory, as copies from other memory wait for the device; PyTorch keeps it until they are done.
            self.tensors = [t.pin_memory().to(device, non_blocking=True) for t in tensors]
            self.event = torch.cuda.Event()
            self.event.record()
            self.streams = {torch.cuda.current_stream().cuda_stream}  # those that come after the copies

    def await_on(self, stream: int) -> None:
        """Makes a stream, the current one, wait until the tables are there, and their memory outlive its work."""
        if stream in self.streams:
            return
        current = torch.cuda.current_stream()
        current.wait_event(self.event)
        for tensor in self.tensors:
            tensor.record_stream(current)
        self.streams.add(stream)


_captured: set[Sent] = set()


def await_all(tables: Sequence[Sent], stream: int) -> None:
    """Makes the current stream wait for what it will read. A capture begins by waiting for the device, and its graph
    reads tables at each replay, so they are kept for good."""
    if tables and torch.cuda.is_current_stream_capturing():
        _captured.update(tables)
        return
    for sent in tables:
        sent.await_on(stream)


def index(map_: Any, device: torch.device) -> Sent:
    """The input that each output block of a map reads."""
    return _kept(map_, (device, "index"), lambda: [map_.block_index])


def window(map_: Window, sums: str, device: torch.device) -> Sent:
    """A window's start, offset and, if it has some, weights, as the numbers that are summed."""

    def arrays() -> list[Array]:
        assert map_.start is not None and map_.offset is not None
        weights = [] if map_.weight is None else [map_.weight.astype(REAL[sums])]
        return [map_.start, map_.offset, *weights]

    return _kept(map_, (device, sums), arrays)


def rows_in_tiles(map_: Window, rows: int, sums: str, device: torch.device) -> Sent:
    """A window's rows, so many of them together: the first input that any of them reads, how many from there on are
    read, and of each of these inputs its weight in each row, 0 where it has none."""

    def arrays() -> list[Array]:
        row, column, weight = map_.taps()
        start, offset = map_.rows()
        stop = start + np.diff(offset)
        tiles = -(-len(start) // rows)
        used = stop > start
        lowest, highest = np.full(tiles, map_.n_in), np.zeros(tiles, np.int64)
        np.minimum.at(lowest, np.flatnonzero(used) // rows, start[used])
        np.maximum.at(highest, np.flatnonzero(used) // rows, stop[used])
        n_read = np.maximum(highest - lowest, 0)
        dense = np.zeros((tiles, max(n_read.max(initial=0), 1), rows), REAL[sums])
        dense[row // rows, column - lowest[row // rows], row % rows] = weight
        return [np.where(n_read > 0, lowest, 0), n_read, dense.reshape(-1)]

    return _kept(map_, (device, sums, rows), arrays)


def _kept(map_: Any, key: tuple[Any, ...], arrays: Callable[[], list[Array]]) -> Sent:
    kept: dict[Any, Sent] = map_.__dict__.setdefault("on_devices", {}) if hasattr(map_, "__dict__") else {}
    if key not in kept:
        short, device = [_short(a) for a in arrays()], key[0]
        if device.type == "cpu":
            kept[key] = Sent(short, device)
        else:
            launch.refuse_under_capture()
            # By another thread: before it captures a graph, PyTorch's compiler runs the code with all memory that its
            # thread takes being the graph's, and allows nothing there to stay.
            with ThreadPoolExecutor(1) as thread:
                kept[key] = thread.submit(Sent, short, device).result()
    return kept[key]


def _short(values: Array) -> Array:
    """Whole numbers in 32 bits where they fit: half of what a kernel reads."""
    if values.dtype.kind == "f" or (values.size and values.max() >= 2**31):
        return values
    return values.astype(np.int32)

"""Maps' tables on a device. They are sent once and cached with the map."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tenter._triton import launch
from tenter.maps import Window

Array = npt.NDArray[Any]


class DeviceTables:
    """Asynchronous copies of arrays on a device; see await_on."""

    def __init__(self, arrays: Sequence[Array], device: torch.device) -> None:
        tensors = [torch.from_numpy(a.copy()) for a in arrays]  # copies, because maps' arrays are read-only
        if device.type == "cpu":
            self.tensors = tensors
            return
        launch.refuse_under_capture()
        with torch.cuda.device(device):
            # A copy from pageable memory would wait for the device. PyTorch frees pinned memory only after the copies.
            self.tensors = [t.pin_memory().to(device, non_blocking=True) for t in tensors]
            self.event = torch.cuda.Event()
            self.event.record()
            self.streams = {torch.cuda.current_stream().cuda_stream}  # streams that are ordered after the copies

    def await_on(self, stream: int) -> None:
        """Makes the current stream wait for the copies, and keeps their memory until the stream's work is done."""
        if stream in self.streams:
            return
        current = torch.cuda.current_stream()
        current.wait_event(self.event)
        for tensor in self.tensors:
            tensor.record_stream(current)
        self.streams.add(stream)


_captured: set[DeviceTables] = set()


def await_all(tables: Sequence[DeviceTables], stream: int) -> None:
    """Makes the current stream wait for tables. A capture waits for the device first. A captured graph reads the tables
    at each replay, so they are never freed."""
    if tables and torch.cuda.is_current_stream_capturing():
        _captured.update(tables)
        return
    for each in tables:
        each.await_on(stream)


def index(map_: Any, device: torch.device) -> DeviceTables:
    """Returns the input that each output block of a map reads."""
    return _cached(map_, (device, "index"), lambda: [map_._blocks])


def _weights(weights: Array, sums: str) -> Array:
    """Returns weights in the dtype of sums: for sums in integers as multiples of 2**-22, which they are."""
    return np.rint(weights * 2.0**22).astype(np.int32) if sums == "int32" else weights.astype(sums)


def window(map_: Window, sums: str, device: torch.device) -> DeviceTables:
    """Returns a window's start, offset and, if it has them, weights, in the dtype of sums."""

    def arrays() -> list[Array]:
        assert map_.start is not None and map_.offset is not None
        weights = [] if map_.weight is None else [_weights(map_.weight, sums)]
        return [map_.start, map_.offset, *weights]

    return _cached(map_, (device, sums), arrays)


def in_groups(map_: Window, size: int, sums: str, device: torch.device, columns: bool = False) -> DeviceTables:
    """Returns a window in groups of `size` outputs: the first of the inputs that each group reads, all groups as many,
    and dense weights.

    Weights of inputs that an output does not read are +0.0; those of others are never +0.0.

    columns: the weights are in the order (input, output in its group, group), else (group, input, output)
    """

    def arrays() -> list[Array]:
        row, column, weights = map_.taps()
        weight = weights.astype(sums)  # before it is compared, as small ones become 0
        lowest, most = groups(map_, size)
        first = np.minimum(lowest, map_.n_in // map_.block - most)
        dense = np.zeros((len(first), most, size), sums)
        dense[row // size, column - first[row // size], row % size] = np.where(weight == 0, -0.0, weight)
        return [first, (dense.transpose(1, 2, 0) if columns else dense).reshape(-1)]

    return _cached(map_, (device, sums, size, columns), arrays)


def of_bytes(map_: Window, size: int, aligned: int, device: torch.device) -> tuple[int, DeviceTables]:
    """Returns how many inputs are multiplied at a time; and the tables of `byte_columns` for tiles of `size` outputs:
    first inputs, multiples of `aligned`; three signed bytes of each weight; and what inputs less 128 take from sums."""
    lowest, most = groups(map_, size)
    block = 64 if most > 96 else 32
    reads = -(-(most + aligned - 1) // block) * block

    def arrays() -> list[Array]:
        row, column, weights = map_.taps()
        units = _weights(weights, "int32")
        first = np.minimum(lowest // aligned * aligned, max(map_.n_in // map_.block - reads, 0))
        dense = np.zeros((len(first), 3, size, reads), np.int8)
        rest = units
        for byte in range(3):
            low = ((rest + 128) & 255) - 128
            dense[row // size, byte, row % size, column - first[row // size]] = low
            rest = (rest - low) >> 8
        bias = np.zeros(map_.n_out // map_.block, np.int64)
        np.add.at(bias, row, 128 * units.astype(np.int64))
        return [first, dense.reshape(-1), bias]

    return block, _cached(map_, (device, "bytes", size, aligned), arrays)


def groups(map_: Window, size: int) -> tuple[Array, int]:
    """Returns the first input of each group of `size` outputs, n_in for none, and the most inputs of a group."""
    start, offset = map_.rows()
    stop = start + np.diff(offset)
    n_groups, used = -(-len(start) // size), np.flatnonzero(stop > start)
    lowest, highest = np.full(n_groups, map_.n_in // map_.block), np.zeros(n_groups, np.int64)
    np.minimum.at(lowest, used // size, start[used])
    np.maximum.at(highest, used // size, stop[used])
    return lowest, max(int((highest - lowest).max(initial=0)), 1)


def _cached(map_: Any, key: tuple[Any, ...], arrays: Callable[[], list[Array]]) -> DeviceTables:
    cache: dict[Any, DeviceTables] = map_.__dict__.setdefault("on_devices", {}) if hasattr(map_, "__dict__") else {}
    if key not in cache:
        narrowed, device = [_narrowed(a) for a in arrays()], key[0]
        if device.type == "cpu":
            cache[key] = DeviceTables(narrowed, device)
        else:
            launch.refuse_under_capture()
            # Another thread allocates them. Before PyTorch's compiler captures a graph, it runs the code with all
            # allocations of its thread in the graph's memory pool, and none may outlive that run.
            with ThreadPoolExecutor(1) as thread:
                cache[key] = thread.submit(DeviceTables, narrowed, device).result()
    return cache[key]


def _narrowed(values: Array) -> Array:
    """Returns integers as int32 if they fit, which halves the memory traffic."""
    if values.dtype.kind == "f" or values.itemsize == 1 or (values.size and values.max() >= 2**31):
        return values
    return values.astype(np.int32)

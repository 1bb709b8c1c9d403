from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]

_Floats = npt.NDArray[np.float64]
_Halves = tuple[int, int]

WORDS: dict[str, tuple[str, ...]]
PERIODIC: tuple[str, ...]
NAMED_ARITHMETIC: tuple[str, ...]
DTYPES: tuple[tuple[str, str, int, str], ...]  # name, kind, bytes, the dtype of sums
FILTERS: tuple[tuple[str, Filter, float, bool], ...]  # name, function, support, whether weights sum to one

class Filter:
    def __init__(self, kind: str, p: float, q: float, /) -> None: ...
    def __call__(self, distance: _Floats, /) -> _Floats: ...

class Sampling:
    taps_at_ends: float

_Wide = tuple[tuple[int, _Halves, int, _Halves, _Halves], int, int, float, float, float, float]
_Tables = tuple[_Ints | None, _Ints | None, _Ints, _Floats]

class AxisRule:
    lined_up_by: str
    def __init__(
        self,
        kind: str,
        align: str,
        tie: str,
        arithmetic: str,
        edge: str,
        antialias: bool,
        filter: Filter | Callable[[_Floats], _Floats] | None,
        support: float,
        sums_to_one: bool,
    ) -> None: ...
    def settled(
        self,
        n_in: int,
        n_out: int,
        scaled: bool,
        box: tuple[float, float] | None,
        n_axes: int,
        sum_of_sizes: float,
        keeps_lengths: bool,
        doubles: bool,
        on_device: bool,
        in_bytes: bool,
    ) -> tuple[str, bool]: ...
    def map(
        self,
        n_in: int,
        n_out: int,
        scale: str | None,
        box: tuple[str, str] | None,
        room: Callable[[float, int], None],
        bell: Callable[[float], tuple[_Ints, _Floats]],
        wide: _Wide | None,
    ) -> int | Picking | Sampling | _Tables | None: ...

class Picking:
    n_in: int
    n_out: int
    reads_all: bool
    goes_past: bool
    is_long: bool
    repeat: int
    def __init__(
        self,
        n_in: int,
        n_out: int,
        formula: str,
        first: float,
        step: float,
        edge: str,
    ) -> None: ...
    def index(self, lo: int, hi: int, /) -> _Ints: ...
    def offsets(self, lo: int, hi: int, /) -> _Ints: ...

def folded(column: _Ints, n_in: int, edge: str, /) -> _Ints: ...
def transposed_window(
    n_in: int, start: _Ints, offset: _Ints, weight: _Floats | None
) -> tuple[_Ints, _Ints, _Floats | None]: ...
def transposed_gather(n_in: int, offset: _Ints, index: _Ints, weight: _Floats) -> tuple[_Ints, _Ints, _Floats]: ...
def laid_out(offset: _Ints, index: _Ints, /) -> tuple[_Ints, _Ints]: ...

class WindowMap:
    is_computed: bool
    is_identity: bool
    gathers: bool
    picks: bool
    has_tables: bool
    n_taps: int
    sampling: Sampling | None
    picking: Picking | None
    transposed: bool
    @overload
    def __init__(
        self, n_in: int, n_out: int, width: int, start: _Ints | None, offset: _Ints | None, weight: _Floats | None
    ) -> None: ...
    @overload
    def __init__(self, sampling: Sampling, transposed: bool, with_tables: bool) -> None: ...
    @overload
    def __init__(self, picking: Picking, transposed: bool) -> None: ...
    def tables(self, lo: int, hi: int, /) -> tuple[_Ints, _Ints, _Floats]: ...
    def gathered(self) -> tuple[_Ints, _Ints, _Ints, _Floats]: ...

class KernelCall:
    def __call__(self, src: int, dst: int, threads: int, stream: bool, /) -> None: ...

class CopyStep(KernelCall):
    def __init__(self, itemsize: int, axes: list[tuple[str, int, int, int, int, _Ints | Picking | None]]) -> None: ...
    def __call__(self, src: int, dst: int, threads: int, stream: bool, /) -> None: ...

class WindowStep(KernelCall):
    def __call__(self, src: int, dst: int, threads: int, stream: bool, /) -> None: ...

def window_step(
    dtype_in: int,
    dtype_out: int,
    accumulate: int,
    dims: list[tuple[int, int]],
    first: int,
    maps: list[WindowMap],
    deciding: list[tuple[int, WindowMap]],
    rows_first: bool,
    saturate: bool,
) -> WindowStep | None: ...
def weighed_step(
    dtype: int, dims: list[tuple[int, int]], maps: list[WindowMap], unseen: float
) -> WindowStep | None: ...

READ_DIMS: int

ByteAxis = tuple[int, int, ByteMap | None]

class ByteMap:
    def __init__(self, n_in: int, n_out: int, start: _Ints, offset: _Ints, weight: npt.NDArray[np.float64]) -> None: ...

class ByteStep(KernelCall):
    def __init__(
        self,
        outer: list[tuple[int, int]],
        row: ByteAxis,
        column: ByteAxis,
        inner: tuple[int, int],
        rows_first: bool,
        alpha: bool,
    ) -> None: ...
    def __call__(self, src: int, dst: int, threads: int, stream: bool, /) -> None: ...

def byte_step(dims: list[tuple[int, int]], first: int, maps: list[ByteMap], rows_first: bool) -> ByteStep | None: ...
def pass_cost(n: list[int], n_out: list[int]) -> tuple[float, int]: ...
def channels_together(n_channels: int, n_in: int, n_out: int) -> bool: ...
def crops(n_in: int, lo: int, hi: int) -> bool: ...
def rows_before(n_row: int, made_row: int, n_column: int, made_column: int) -> bool: ...
def weigh(
    src: int, dst: int, dtype: int, n_pixels: int, channels: int, divides: bool, unseen: float, threads: int, /
) -> None: ...
def is_alpha(src: int, dtype: int, n_pixels: int, channels: int, alpha: float, threads: int, /) -> bool: ...
def fits_bytes(offset: _Ints, weight: npt.NDArray[np.float64], /) -> bool: ...
def offsets(counts: int, dtype: int, stride: int, n: int, offsets: int, threads: int, /) -> int: ...
def ranges(
    offset: int,
    n: int,
    start: int,
    step: int,
    start_of_all: int,
    step_of_all: int,
    ids: bool,
    dst: int,
    int32: bool,
    threads: int,
    stream: bool,
    /,
) -> None: ...
def ranges_fit(
    offset: int, n: int, start: int, step: int, start_of_all: int, step_of_all: int, int32: bool, threads: int, /
) -> int: ...
def extremes(
    src: int, dst: int, at: int, dtype: int, offset: int, n: int, outer: int, inner: int, largest: bool, threads: int, /
) -> None: ...
def pad(
    src: int, dst: int, offset: int, n: int, length: int, n_bytes: int, value: int, value_bytes: int, threads: int, /
) -> None: ...
def unpad(src: int, dst: int, offset: int, n: int, length: int, n_bytes: int, threads: int, /) -> None: ...
def repeat_padded(
    src: int,
    dst: int,
    offset: int,
    rows: int,
    width: int,
    room: int,
    n_bytes: int,
    value: int,
    value_bytes: int,
    threads: int,
    stream: bool,
    /,
) -> None: ...
def mark_spans(spans: int, dst: int, rows: int, k: int, n: int, threads: int, /) -> None: ...

class Counts:
    total: int
    def __init__(self, counts: int, dtype: int, stride: int, n: int, /) -> None: ...
    def copy(self, src: int, dst: int, outer: int, inner_bytes: int, /) -> None: ...

class ReadySteps:
    def __init__(
        self,
        steps: Sequence[tuple[KernelCall, int, int, int, int]],
        temporaries: list[int],
        shape: tuple[int, ...],
        order: tuple[int, ...] | None,
        small: bool,
    ) -> None: ...

def read_numpy(*how: Any) -> bool: ...
def read_torch(*how: Any) -> bool: ...

class Family:
    def __init__(
        self,
        rules: tuple[tuple[int, AxisRule, bool, AxisRule | None], ...],
        sums: tuple[int, bool, bool, bool],
        at: tuple[int, ...] | None,
        ndim: int,
        order: tuple[int, ...] | None,
        rounding: str,
        policy: str,
        channels_last: bool,
        strides_decide: bool,
        transposed: bool,
        outside: tuple[str, float, bytes, int, bool],
        planner: Any,
    ) -> None: ...

class RecordedCall:
    operands: tuple[Any, ...]
    adjoints: dict[bytes, Any]

def set_up_recorded(differentiable: Any, forward: Any, backward: Any, sizes: type, /) -> None: ...
def recorded_forward(ctx: Any, x: Any, call: RecordedCall, /) -> Any: ...
def recorded_backward(ctx: Any, g: Any, /) -> tuple[Any, None]: ...
def gradients_family_key(g: Any, call: RecordedCall, /) -> bytes | None: ...
def forget_calls() -> None: ...
def set_up_families(families: Any, numpy_numbers: tuple[type, ...], fraction: type, /) -> None: ...
def family_key(call: str, x: Any, /, *args: Any) -> bytes | None: ...
def set_up_calls(plans: Any, ready: int | None, again: Any, differentiable: Any, fallback: Any, /) -> None: ...
def known_call(call: str, x: Any, /, *args: Any) -> Any: ...
def known_call_into(out: Any, call: str, x: Any, /, *args: Any) -> Any: ...
def name_arguments(call: str, names: tuple[str, ...], /) -> None: ...
def call_key(call: str, x: Any, /, *args: Any) -> bytes | None: ...
def plain(x: Any, /) -> bool: ...
def expand_view(x: Any, /, *sizes: Any) -> Any: ...
def set_up_function(run: Any, backward: Any, /) -> None: ...
def forward(ctx: Any, x: Any, plan: Any, /) -> Any: ...
def backward(ctx: Any, g: Any, /) -> tuple[Any, None]: ...
def adjoint_key(g: Any, /) -> bytes | None: ...
def set_up_counts(large_empty: Any, thread_count: Any, memory: int, /) -> None: ...
def set_up_gradients(differentiable: Any, backward: Any, /) -> None: ...
def repeated(ctx: Any, x: Any, how: Any, /) -> Any: ...
def repeated_operands(how: Any, /) -> tuple[Any, int, int, tuple[int, ...]]: ...
def repeated_backward(ctx: Any, g: Any, /) -> tuple[Any, None]: ...
def row_offsets(counts: Any, n: Any, output_size: Any, /) -> Any: ...
def last_offset(offsets: Any, /) -> int | None: ...
def by_offsets(x: Any, offsets: Any, dim: int, total: int = ..., /) -> Any: ...
def ragged_offsets(lengths: Any, total: Any, /) -> Any: ...
def ragged_row_ids(lengths: Any, total: Any, /) -> Any: ...
def ragged_positions(lengths: Any, total: Any, /) -> Any: ...
def ragged_ranges(starts: Any, lengths: Any, steps: Any, total: Any, /) -> Any: ...
def ragged_mask(lengths: Any, max_len: Any, /) -> Any: ...
def ragged_spans(starts: Any, ends: Any, n: Any, /) -> Any: ...
def segment_sum(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def segment_mean(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def segment_max(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def segment_min(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def segment_less_max(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def segment_share(x: Any, lengths: Any, dim: Any, /) -> Any: ...
def ragged_pad(x: Any, lengths: Any, max_len: Any, /) -> Any: ...
def ragged_unpad(x: Any, lengths: Any, total: Any, /) -> Any: ...

class Runs:
    total: int
    def __init__(self, counts: int, narrow: bool, n: int, threads: int, /) -> None: ...
    def copy(self, src: int, dst: int, n_bytes: int, threads: int, stream: bool, /) -> None: ...

class Block:
    address: int
    used: bool
    def __init__(self, n_bytes: int, /) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

VERIFIES: bool

class Tuning:
    parallel_bytes: int
    wake_bytes: int
    task_bytes: int
    staging_bytes: int
    copied_block_bytes: int
    runs_chunk: int
    shared_counts: int
    tile_bytes: int
    tile_inputs: int
    widened_values: int
    column_step: int
    row_width: int
    row_block: int
    band_bytes: int
    plane_bytes: int
    planes_kept_bytes: int
    byte_tile_bytes: int
    byte_band_bytes: int
    stream_bytes: int
    long_axis: int
    signal_axis: int
    tap_outputs: int
    tap_block: int
    many_scalars: int
    pick_outputs: int
    small_bytes: int
    large_bytes: int
    slice_bytes: int
    seldom_calls: int
    apart_bytes: int
    scratch_bytes: int
    planned_bytes: int
    planned_taps: int
    weighed_outputs: int
    guard_blocks: bool
    def reset(self) -> None: ...

tuning: Tuning

def memory_stats() -> tuple[int, int, int, int, int, int, int]: ...
def recycles() -> bool: ...
def memory_limit(n_bytes: int, /) -> None: ...
def memory_clear() -> None: ...
def level() -> str: ...
def levels() -> list[str]: ...
def force_level(name: str, /) -> bool: ...
def join_openmp() -> None: ...
def forked() -> bool: ...
def hold_signals(hold: bool) -> None: ...

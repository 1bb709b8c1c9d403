from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]

_Floats = npt.NDArray[np.float64]

WORDS: dict[str, tuple[str, ...]]
KERNELS: dict[str, str]
DTYPES: tuple[tuple[str, str, int, str], ...]  # name, kind, bytes, the dtype of sums
FILTERS: tuple[tuple[str, Filter, float, bool], ...]  # name, function, support, whether weights sum to one

class Filter:
    def __init__(self, kind: str, p: float, q: float, /) -> None: ...
    def __call__(self, distance: _Floats, /) -> _Floats: ...

class Sampling:
    taps_at_ends: float

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
    ) -> None: ...
    def set_filter(
        self, filter: Filter | Callable[[_Floats], _Floats] | None, support: float, sums_to_one: bool
    ) -> None: ...
    def settled(
        self, n_in: int, n_out: int, scaled: bool, box: tuple[float, float] | None, call: Any
    ) -> tuple[str, bool]: ...  # call: tenter._specs.axis_maps.AxisCall
    def map(
        self,
        n_in: int,
        n_out: int,
        scale: str | None,
        box: tuple[str, str] | None,
        room: Callable[[float, int], None],
        bell: Callable[[float], tuple[_Ints, _Floats]],
        wide: Any,  # tenter._specs.axis_maps.WideNumbers, or None
    ) -> int | SourceIndex | Sampling | _Tables | None: ...

class SourceIndex:
    n_in: int
    n_out: int
    reads_all: bool
    reads_padding: bool
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
def place_between(
    at: _Floats | _Ints,
    coordinates: _Floats | _Ints,
    rounding: float,
    placed: int,
    last: int,
    ahead: int,
    threads: int,
    /,
) -> None: ...
def lines_between(
    at: _Floats | _Ints,
    coordinates: _Floats | _Ints,
    last: _Ints,
    clips: bool,
    start: int,
    offset: int,
    weight: int,
    threads: int,
    /,
) -> int: ...
def laid_out(offset: _Ints, index: _Ints, /) -> tuple[_Ints, _Ints]: ...

class WindowMap:
    is_computed: bool
    is_identity: bool
    gathers: bool
    only_copies: bool
    has_tables: bool
    n_taps: int
    sampling: Sampling | None
    source_index: SourceIndex | None
    transposed: bool
    @overload
    def __init__(
        self, n_in: int, n_out: int, width: int, start: _Ints | None, offset: _Ints | None, weight: _Floats | None
    ) -> None: ...
    @overload
    def __init__(self, sampling: Sampling, transposed: bool, with_tables: bool) -> None: ...
    @overload
    def __init__(self, source_index: SourceIndex, transposed: bool) -> None: ...
    def tables(self, lo: int, hi: int, /) -> tuple[_Ints, _Ints, _Floats]: ...
    def gathered(self) -> tuple[_Ints, _Ints, _Ints, _Floats]: ...
    def stepped_part(self, lo: int, hi: int, first: int, n: int, /) -> Sampling | None: ...

class AxisMap:
    has_bytes: bool
    def __init__(self) -> None: ...
    def set_repeat(self, n_in: int, times: int, /) -> None: ...
    def set_runs(self, n_in: int, n_out: int, offsets: _Ints | None, /) -> None: ...
    def set_index(self, n_in: int, index: _Ints, /) -> None: ...
    def set_source_index(self, of: SourceIndex, /) -> None: ...
    def set_map(self, of: WindowMap, /) -> None: ...
    def set_gather(self, n_in: int, offset: _Ints, index: _Ints, weight: _Floats | None) -> None: ...
    def set_counts(self, n_in: int, n_out: int, sums: bool, /) -> None: ...

# layout, maps: tenter._plans.core.CoreLayout, MappedAxis

class HostPlan:
    scratch: int
    small: bool
    positions: int
    passes: dict[str, Any]
    steps: tuple[tuple[str, int], ...]
    def __init__(
        self,
        layout: Any,
        maps: list[Any],
        order: tuple[int, ...] | None,
        rounding: str,
        room: Callable[[float], None] | None,
    ) -> None: ...
    @staticmethod
    def premultiplied_bytes(
        dims: list[tuple[int, int]], row: AxisMap | None, column: AxisMap | None, rows_first: bool
    ) -> HostPlan: ...
    @staticmethod
    def premultiplied_sums(
        dtype: int, dims: list[tuple[int, int]], row: AxisMap, column: AxisMap, unseen: float
    ) -> HostPlan | None: ...
    def run(self, src: int, dst: int, stream: bool, /) -> None: ...
    def run_whole(self, src: int, dst: int, stream: bool, /) -> None: ...

def passes_on_device(
    layout: Any,
    maps: list[Any],
    order: tuple[int, ...] | None,
    rounding: str,
    room: Callable[[float], None],
) -> dict[str, Any]: ...
def rows_before(n_row: int, made_row: int, n_column: int, made_column: int) -> bool: ...
def premultiply(
    src: int, dst: int, dtype: int, n_pixels: int, channels: int, divides: bool, unseen: float, threads: int, /
) -> None: ...
def is_alpha(src: int, dtype: int, n_pixels: int, channels: int, alpha: float, threads: int, /) -> bool: ...
def fill_gaps(
    values: int, mask: int, period: int, n: int, dtype: int, skips: bool, filled: int, ones: int, threads: int, /
) -> None: ...
def resize_gaps(
    plan: HostPlan,
    rest: HostPlan | None,
    values: tuple[int, list[tuple[int, int]]],
    mask: tuple[int, list[tuple[int, int]]],
    shares: tuple[int, list[tuple[int, int]]],
    made: tuple[int, ...],
    result: int,
    stream: bool,
    dtype: int,
    skips: bool,
    above: float,
    loops: int,
    each: int,
    bytes: int,
    threads: int,
    /,
) -> None: ...
def divide_by_shares(sums: int, shares: int, n: int, dtype: int, above: float, threads: int, /) -> None: ...
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
) -> int: ...
def extremes(
    src: int, dst: int, at: int, dtype: int, offset: int, n: int, outer: int, inner: int, largest: bool, threads: int, /
) -> None: ...
def pad(
    src: int,
    dst: int,
    offset: int,
    left: bool,
    n: int,
    length: int,
    n_bytes: int,
    value: int,
    value_bytes: int,
    threads: int,
    /,
) -> None: ...
def unpad(src: int, dst: int, offset: int, left: bool, n: int, length: int, n_bytes: int, threads: int, /) -> None: ...
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
def register_numpy(*how: Any) -> bool: ...
def register_torch(*how: Any) -> bool: ...

class Specialization:
    def __init__(self, of: Any, /) -> None: ...  # tenter._plans.specializations.CoreSpecialization
    @staticmethod
    def key(call: str, x: Any, /, *args: Any) -> bytes | None: ...

class RecordedCall:
    operands: tuple[Any, ...]  # or a CallPlan
    def specialization_key(self, g: Any, /) -> bytes | None: ...
    def plan_key(self, g: Any, /) -> bytes | None: ...
    @staticmethod
    def forward(ctx: Any, x: Any, call: Any, /) -> Any: ...
    @staticmethod
    def backward(ctx: Any, g: Any, /) -> tuple[Any, None]: ...

def register_calls(
    plans: Any,
    steps: int,
    run: Any,
    run_checked: Any,
    store: Any,
    specializations: Any,
    numpy_numbers: tuple[type, ...],
    fraction: type,
    thread_count: Any,
    memory: int,
    arguments: dict[str, tuple[str, ...]],
    constants: tuple[type[tuple[Any, ...]], ...],
    /,
) -> None: ...
def cached_call(call: str, x: Any, /, *args: Any) -> Any: ...
def cached_call_into(out: Any, normalization: tuple[bytes, int] | None, call: str, x: Any, /, *args: Any) -> Any: ...
def normalized(out: Any, normalization: tuple[bytes, int], y: Any, /) -> Any: ...
def call_key(call: str, x: Any, /, *args: Any) -> bytes | None: ...
def ordinary(x: Any, /) -> bool: ...
def expand_view(x: Any, sizes: tuple[Any, ...], /) -> Any: ...
def row_offsets(counts: Any, n: Any, output_size: Any, /) -> Any: ...
def last_offset(offsets: Any, /) -> int | None: ...
def by_offsets(x: Any, offsets: Any, dim: int, total: int = ..., /) -> Any: ...
def ragged_offsets(lengths: Any, total: Any, out: Any, /) -> Any: ...
def ragged_row_ids(lengths: Any, total: Any, out: Any, /) -> Any: ...
def ragged_ranges(starts: Any, lengths: Any, steps: Any, total: Any, out: Any, /) -> Any: ...
def ragged_mask(lengths: Any, max_len: Any, side: Any, out: Any, /) -> Any: ...
def ragged_spans(starts: Any, ends: Any, n: Any, out: Any, /) -> Any: ...
def segment(function: str, x: Any, lengths: Any, dim: Any, out: Any, /) -> Any: ...
def ragged_pad(x: Any, lengths: Any, max_len: Any, value: bytes | None, side: Any, out: Any, /) -> Any: ...
def ragged_unpad(x: Any, lengths: Any, total: Any, side: Any, out: Any, /) -> Any: ...

class DeviceLaunches:
    def __init__(
        self, launch_kernel: int, steps: list[tuple[int, int, int, list[tuple[int, int]]]], /
    ) -> None: ...  # steps: function, threads, bytes of shared memory, numbers: programs, then arguments
    def run(self, stream: int, /, *numbers: int) -> int: ...  # 0, or the driver's error

class Block:
    address: int
    used: bool
    def __init__(self, n_bytes: int, /) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @staticmethod
    def stats() -> tuple[int, int, int, int, int, int, int]: ...
    @staticmethod
    def recycles() -> bool: ...
    @staticmethod
    def limit(n_bytes: int, /) -> None: ...
    @staticmethod
    def clear() -> None: ...
    @staticmethod
    def scratch() -> int: ...

class testing:  # noqa: N801, a module: what only tests use
    VERIFIES: bool
    class Counts:
        total: int
        def __init__(self, counts: int, dtype: int, stride: int, n: int, /) -> None: ...
        def copy(self, src: int, dst: int, outer: int, inner_bytes: int, /) -> None: ...

    class Runs:
        total: int
        def __init__(self, counts: int, narrow: bool, n: int, threads: int, /) -> None: ...
        def copy(self, src: int, dst: int, n_bytes: int, threads: int, stream: bool, /) -> None: ...

    @staticmethod
    def forget_calls() -> None: ...
    @staticmethod
    def levels() -> list[str]: ...
    @staticmethod
    def force_level(name: str, /) -> bool: ...

class _Tuning:
    parallel_bytes: int
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
    row_chunk_bytes: int
    plane_bytes: int
    cached_planes_bytes: int
    byte_tile_bytes: int
    byte_chunk_bytes: int
    stream_bytes: int
    long_axis: int
    signal_axis: int
    tap_outputs: int
    tap_block: int
    many_scalars: int
    index_outputs: int
    small_bytes: int
    large_bytes: int
    chunk_bytes: int
    seldom_calls: int
    scratch_bytes: int
    idle_scratch_bytes: int
    planned_bytes: int
    table_bytes: int
    planned_taps: int
    weight_sum_outputs: int
    guard_blocks: bool
    def reset(self) -> None: ...

tuning: _Tuning

def level() -> str: ...
def forked() -> bool: ...

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
Axis = tuple[int, int, WindowMap | None]

class WindowMap:
    def __init__(
        self,
        n_in: int,
        n_out: int,
        width: int,
        start: _Ints | None,
        offset: _Ints | None,
        weight: npt.NDArray[np.float64] | None,
    ) -> None: ...

class CopyStep:
    def __init__(self, run: int, axes: list[tuple[int, int, int, int, int, _Ints | None]]) -> None: ...
    def __call__(self, src: int, dst: int, threads: int, /) -> None: ...

class WindowStep:
    def __init__(
        self,
        dtype_in: int,
        dtype_out: int,
        accumulate: int,
        outer: list[tuple[int, int]],
        row: Axis,
        column: Axis,
        inner: tuple[int, int],
        rows_first: bool,
        saturate: bool,
        out_bytes: int,
    ) -> None: ...
    def __call__(self, src: int, dst: int, threads: int, /) -> None: ...

def offsets(counts: int, dtype: int, stride: int, n: int, offsets: int, /) -> int: ...

class Counts:
    total: int
    def __init__(self, counts: int, dtype: int, stride: int, n: int, /) -> None: ...
    def copy(self, src: int, dst: int, outer: int, inner_bytes: int, /) -> None: ...
    def sum(
        self, src: int, dst: int, dtype: int, accumulate: int, itemsize: int, outer: int, inner: int, wide: bool, /
    ) -> None: ...
    def offsets(self) -> _Ints: ...

def level() -> str: ...
def levels() -> list[str]: ...
def force_level(name: str, /) -> bool: ...
def forked() -> bool: ...

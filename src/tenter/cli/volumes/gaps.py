"""Missing values of arrays on disk: NaN, and those that a mask leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tenter._arrays.types import Array
from tenter._execution import masked
from tenter._parts.boxes import Box
from tenter.cli.options import Options
from tenter.cli.refusal import Refusal

if TYPE_CHECKING:
    from tenter.cli.volumes.stored import Stored


class Gaps(NamedTuple):
    """rule: what is done with missing values. mask: of the last dims of the array, in the order of their names.
    is_turned: whether the dims of blocks have the reverse order. dtype: of sums."""

    rule: masked.Rule
    mask: Stored | None
    is_turned: bool
    dtype: np.dtype[Any]

    def files(self, box: Box) -> set[str]:
        """The files that hold the mask of a box."""
        return set() if self.mask is None else self.mask.files(self._box(self.mask, box))

    def computed(self, box: Box, x: Array, apply: Callable[[Array], Array]) -> Array:
        """A block of the result. x: what it reads, from a box. apply: sums by the maps of the block."""
        mask = None if self.mask is None else self._read(self.mask, box, x.shape)
        y: Array = masked.whole(x, mask, None, lambda some, value: apply(some), self.rule)[0]
        return np.ascontiguousarray(y)

    def _read(self, mask: Stored, box: Box, shape: tuple[int, ...]) -> Array:
        found = mask.read(self._box(mask, box)) != 0
        found = found.reshape((*(1,) * (len(box) - found.ndim), *found.shape))
        return np.ascontiguousarray(np.broadcast_to(found.transpose() if self.is_turned else found, shape))

    def _box(self, mask: Stored, box: Box) -> Box:
        named = box[::-1] if self.is_turned else box
        dims = zip(named[len(named) - len(mask.shape) :], mask.shape)
        return tuple((0, 1) if n == 1 else at for at, n in dims)


def checked_mask(mask: Stored, shape: tuple[int, ...]) -> Stored:
    """Refuse a mask that does not fit an array of that shape."""
    if mask.dtype.kind not in "biu":
        raise Refusal(f"--mask: expected bools, or integers that are 0 where a value is missing, got {mask.dtype}")
    pairs = zip(reversed(mask.shape), reversed(shape))
    if len(mask.shape) > len(shape) or any(n not in (1, m) for n, m in pairs):
        raise Refusal(f"--mask: expected a shape that broadcasts to {shape}, got {mask.shape}")
    return mask


def arguments(options: Options) -> dict[str, Any]:
    """The options of missing values, as a job is described by them; none without any."""
    return {"skip_nan": options.skip_nan, "mask": options.mask, "min_valid": options.min_valid} if has(options) else {}


def has(options: Options) -> bool:
    """Whether values may be missing."""
    return options.skip_nan or options.mask is not None

"""The dtypes that sums are taken of: one row each, which Triton, PyTorch and the checks read. Rows of the core's dtypes
are the core's (native/dtypes.hpp), with what Triton and the checks need besides.

A dtype that has no row can be copied, as elements of its size, and not summed.
"""

import sys
from typing import NamedTuple

from tenter import _native

OPAQUE = "opaque"  # elements that are more than their bytes, such as Python objects


class Dtype(NamedTuple):
    """number: the dtype's in native/dtypes.hpp, None where the core has no sums of it. kind: i, u, f or c, as NumPy's.
    sums: the dtype that weighted sums are taken in. pointer: Triton's name of a pointer to it. largest: the largest
    finite value, as a Python number. parts: the dtype of a complex number's two parts, which a map treats alike."""

    name: str
    number: int | None
    kind: str
    sums: str
    pointer: str | None
    largest: float
    parts: str | None = None

    @property
    def narrow(self) -> bool:
        """True where sums are wider than the dtype, so that rounding takes place once, at the end."""
        return self.kind in "iu" or self.name in ("float16", "bfloat16", "complex32")


_BF16 = (2 - 2**-7) * 2.0**127
_F32 = (2 - 2**-23) * 2.0**127
_F64 = sys.float_info.max

# Of the core's floats: Triton's pointer, and the largest finite value.
_FLOATS = {
    "float32": ("*fp32", _F32), "float64": ("*fp64", _F64), "float16": ("*fp16", 65504.0), "bfloat16": ("*bf16", _BF16),
}  # fmt: skip


def _of_core(number: int, name: str, kind: str, n_bytes: int, sums: str) -> Dtype:
    if kind == "f":
        return Dtype(name, number, kind, sums, *_FLOATS[name])
    bits = 8 * n_bytes
    return Dtype(name, number, kind, sums, f"*{kind}{bits}", 2 ** (bits - (kind == "i")) - 1)


DTYPES = {
    d.name: d
    for d in (
        *(_of_core(number, *row) for number, row in enumerate(_native.DTYPES)),
        Dtype("complex32", None, "c", "float32", None, 65504.0, "float16"),
        Dtype("complex64", None, "c", "float32", None, _F32, "float32"),
        Dtype("complex128", None, "c", "float64", None, _F64, "float64"),
        # NumPy's, by names without a width, which depends on the machine.
        Dtype("longdouble", None, "f", "longdouble", None, _F64),
        Dtype("clongdouble", None, "c", "longdouble", None, _F64, "longdouble"),
    )
}
# The core's numbers of the dtypes that it computes with.
NUMBERS = {d.name: d.number for d in DTYPES.values() if d.number is not None}
# Dtypes of counts.
INTEGERS = frozenset(d.name for d in DTYPES.values() if d.kind in "iu")
# Those whose complex parts the core computes with.
PARTS = {d.name: d.parts for d in DTYPES.values() if d.parts in NUMBERS}


def is_numeric(name: str) -> bool:
    """True if weighted sums can be taken of a dtype."""
    return name in DTYPES

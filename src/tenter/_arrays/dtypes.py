"""The dtypes that sums are taken of: one row each, which the core, Triton, PyTorch and the checks read.

A dtype that has no row can be copied, as elements of its size, and not summed.
"""

import sys
from typing import NamedTuple

OPAQUE = "opaque"  # elements that are more than their bytes, such as Python objects


class Dtype(NamedTuple):
    """number: the dtype's in native/kernels.hpp, None where the core has no sums of it. kind: i, u, f or c, as NumPy's.
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

DTYPES = {
    d.name: d
    for d in (
        Dtype("float32", 0, "f", "float32", "*fp32", _F32),
        Dtype("float64", 1, "f", "float64", "*fp64", _F64),
        Dtype("float16", 2, "f", "float32", "*fp16", 65504.0),
        Dtype("bfloat16", 3, "f", "float32", "*bf16", _BF16),
        Dtype("uint8", 4, "u", "float32", "*u8", 2**8 - 1),
        Dtype("int8", 5, "i", "float32", "*i8", 2**7 - 1),
        Dtype("uint16", 6, "u", "float32", "*u16", 2**16 - 1),
        Dtype("int16", 7, "i", "float32", "*i16", 2**15 - 1),
        Dtype("uint32", 8, "u", "float64", "*u32", 2**32 - 1),
        Dtype("int32", 9, "i", "float64", "*i32", 2**31 - 1),
        Dtype("uint64", 10, "u", "float64", "*u64", 2**64 - 1),
        Dtype("int64", 11, "i", "float64", "*i64", 2**63 - 1),
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

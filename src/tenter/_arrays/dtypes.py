"""The dtypes that can be summed, one row each. Triton, PyTorch and the argument checks read these rows.

The core's dtypes come from native/kernels/dtypes.hpp. Their rows add what Triton and the checks need. A dtype without a
row can be copied, as elements of its size, and not summed.
"""

import sys
from typing import NamedTuple

from tenter import _native

OPAQUE = "opaque"  # dtype of elements that are more than their bytes, such as Python objects


class Dtype(NamedTuple):
    """A dtype that can be summed.

    number: the dtype's number in the core; None if the core has no sums of it
    kind: i, u, f or c, as in NumPy
    sums: the dtype in which weighted sums are taken
    pointer: Triton's name of a pointer to the dtype
    largest: the largest finite value, as a Python number
    dlpack: DLPack's code of the kind of number
    parts: the dtype of the real and imaginary parts of a complex number; a map treats both alike
    """

    name: str
    number: int | None
    kind: str
    sums: str
    pointer: str | None
    largest: float
    dlpack: int
    parts: str | None = None

    @property
    def narrow(self) -> bool:
        """True if sums have a wider dtype, so that they are rounded once, at the end."""
        return self.kind in "iu" or self.name == "complex32" or (self.kind == "f" and self.sums != self.name)


_BF16 = (2 - 2**-7) * 2.0**127
_F32 = (2 - 2**-23) * 2.0**127
_F64 = sys.float_info.max

# DLPack's codes of kinds of numbers. Some floats have their own.
_INTEGER, _UNSIGNED, _FLOAT, _BFLOAT, _COMPLEX = 0, 1, 2, 4, 5
# Triton's pointer, the largest finite value and DLPack's code of each float of the core.
_FLOATS = {
    "float32": ("*fp32", _F32, _FLOAT),
    "float64": ("*fp64", _F64, _FLOAT),
    "float16": ("*fp16", 65504.0, _FLOAT),
    "bfloat16": ("*bf16", _BF16, _BFLOAT),
}


def _of_core(number: int, name: str, kind: str, n_bytes: int, sums: str) -> Dtype:
    if kind == "f":
        return Dtype(name, number, kind, sums, *_FLOATS[name])
    bits = 8 * n_bytes
    largest = 2 ** (bits - (kind == "i")) - 1
    return Dtype(name, number, kind, sums, f"*{kind}{bits}", largest, _INTEGER if kind == "i" else _UNSIGNED)


DTYPES = {
    d.name: d
    for d in (
        *(_of_core(number, *row) for number, row in enumerate(_native.DTYPES)),
        Dtype("complex32", None, "c", "float32", None, 65504.0, _COMPLEX, "float16"),
        Dtype("complex64", None, "c", "float32", None, _F32, _COMPLEX, "float32"),
        Dtype("complex128", None, "c", "float64", None, _F64, _COMPLEX, "float64"),
        # NumPy dtypes whose usual names contain a width that depends on the machine.
        Dtype("longdouble", None, "f", "longdouble", None, _F64, _FLOAT),
        Dtype("clongdouble", None, "c", "longdouble", None, _F64, _COMPLEX, "longdouble"),
    )
}
# The core's number of each dtype that it can sum.
NUMBERS = {d.name: d.number for d in DTYPES.values() if d.number is not None}
# The dtypes that counts may have.
INTEGERS = frozenset(d.name for d in DTYPES.values() if d.kind in "iu")
# The complex dtypes whose parts the core can sum.
PARTS = {d.name: d.parts for d in DTYPES.values() if d.parts in NUMBERS}


def is_numeric(name: str) -> bool:
    """True if weighted sums of a dtype can be taken."""
    return name in DTYPES

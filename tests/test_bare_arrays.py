"""Arrays by the standard of a library that does less than the standard asks, as MLX: it names no devices, calls bool
`bool_`, tells no bits of integers, and has no itemsize of dtypes."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tenter
from cases import OPS, values
from daily import daily, together
from test_standard_arrays import exact, same


class Namespace:
    """NumPy's functions of its wrapped arrays."""

    bool_ = np.bool_
    DTYPES = ("int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "complex64")

    def __getattr__(self, name):
        if name in self.DTYPES:
            return Dtype(name)
        if name in ("bool", "iinfo", "float16"):
            raise AttributeError(name)
        function = getattr(np, name)

        def called(*args, **kwargs):
            assert "device" not in kwargs
            return wrapped(function(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()}))

        return called


class Dtype:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return bare(self) == bare(other)

    __hash__ = None


class Bare:
    def __init__(self, values):
        self._values = values

    def __array_namespace__(self):
        return Namespace()

    dtype = property(lambda self: Dtype(self._values.dtype.name))
    shape = property(lambda self: self._values.shape)
    ndim = property(lambda self: self._values.ndim)
    itemsize = property(lambda self: self._values.itemsize)
    __getitem__ = lambda self, key: Bare(self._values[key])
    __dlpack__ = lambda self, **kwargs: self._values.__dlpack__(**kwargs)
    __dlpack_device__ = lambda self: self._values.__dlpack_device__()


for name in ("add", "mul", "and", "or", "ge", "le", "gt", "lt", "rshift", "invert"):
    method = f"__{name}__"
    setattr(Bare, method, lambda *args, of=getattr(operator, method): wrapped(of(*map(bare, args))))


def bare(x):
    if isinstance(x, Bare):
        return x._values
    return np.dtype(x.name) if isinstance(x, Dtype) else x


def wrapped(x):
    return Bare(np.asarray(x)) if isinstance(x, (np.ndarray, np.generic)) else x


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy has no functions of the standard")
@together("case", daily(OPS, 12), ids=lambda c: f"{c.op}-{c.shape}-{c.args}{c.kwargs}")
def test_a_library_without_devices_gives_what_numpy_gives(case):
    f = getattr(tenter, case.op)
    for dtype in ("float32", "uint8", "int16", "int64", "uint64", *(["bool"] if exact(case) else [])):
        x = values(case.shape, dtype)
        got = f(Bare(x), *case.args, **case.kwargs)
        assert isinstance(got, Bare)
        same(got._values, f(x, *case.args, **case.kwargs), exact(case))

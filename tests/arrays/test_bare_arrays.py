"""Arrays by the Array API of libraries that do less than it asks. MLX names no devices, calls bool `bool_`, tells no bits
of integers, and has no itemsize of dtypes. CuPy's functions take no device, and make arrays on the current one."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from test_standard_arrays import exact, same

import tenter
from cases import OPS, values
from sweeps import in_one_test, sampled


class Device:
    """As CuPy's: the current one within a `with`."""

    current = False

    def __enter__(self):
        self.current = True

    def __exit__(self, *exception):
        self.current = False


MAKERS = ("asarray", "zeros")
DEVICES = {"mlx": None, "cupy": Device()}


class Namespace:
    """NumPy's functions of its wrapped arrays."""

    def __init__(self, device):
        self.device = device

    bool_ = np.bool_
    DTYPES = ("int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "complex64")

    def __getattr__(self, name):
        if name in self.DTYPES:
            return Dtype(name)
        if name in ("bool", "iinfo", "float16"):
            raise AttributeError(name)
        function = getattr(np, name)

        def called(*args, **kwargs):
            assert "device" not in kwargs and (self.device is None or self.device.current or name not in MAKERS)
            y = function(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()})
            return Bare(y, self.device) if isinstance(y, np.ndarray | np.generic) else y

        return called


class Dtype:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return bare(self) == bare(other)

    __hash__ = None


class Bare:
    def __init__(self, values, device):
        self._values = np.asarray(values)
        if device is not None:
            self.device = device

    def __array_namespace__(self):
        return Namespace(getattr(self, "device", None))

    dtype = property(lambda self: Dtype(self._values.dtype.name))
    shape = property(lambda self: self._values.shape)
    ndim = property(lambda self: self._values.ndim)
    itemsize = property(lambda self: self._values.itemsize)
    __getitem__ = lambda self, key: self._with(self._values[key])
    _with = lambda self, values: Bare(values, getattr(self, "device", None))
    __dlpack__ = lambda self, **kwargs: self._values.__dlpack__(**kwargs)
    __dlpack_device__ = lambda self: self._values.__dlpack_device__()


def operation(of):
    return lambda x, *args: x._with(of(x._values, *map(bare, args)))


for name in ("add", "mul", "and", "or", "ge", "le", "gt", "lt", "rshift", "invert"):
    setattr(Bare, f"__{name}__", operation(getattr(operator, f"__{name}__")))


def bare(x):
    if isinstance(x, Bare):
        return x._values
    return np.dtype(x.name) if isinstance(x, Dtype) else x


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy has no functions of the Array API")
@pytest.mark.parametrize("library", DEVICES)
@in_one_test("case", sampled(OPS, 12), ids=lambda c: f"{c.op}-{c.shape}-{c.args}{c.kwargs}")
def test_a_library_whose_functions_take_no_device_gives_what_numpy_gives(case, library):
    f = getattr(tenter, case.op)
    for dtype in ("float32", "uint8", "int16", "int64", "uint64", *(["bool"] if exact(case) else [])):
        x = values(case.shape, dtype)
        got = f(Bare(x, DEVICES[library]), *case.args, **case.kwargs)
        assert isinstance(got, Bare) and getattr(got, "device", None) is DEVICES[library]
        same(got._values, f(x, *case.args, **case.kwargs), exact(case))

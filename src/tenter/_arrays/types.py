"""Types of NumPy arrays: those of numpy.typing, which takes a fiftieth of tenter's import."""

from typing import Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Bools = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]

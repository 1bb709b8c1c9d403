"""Apache Arrow's run-end-encoded arrays: values, and where the run of each value ends. They correspond to lazy arrays
with one dim."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, of
from tenter.lazy.rows import run_ends
from tenter.lazy.stretched import Stretched, stretched
from tenter.maps import Copy

if TYPE_CHECKING:
    import pyarrow


def run_ends_of(name: str, s: Stretched) -> "pyarrow.RunEndEncodedArray":
    """Returns the Arrow array, without runs of length 0, which Arrow does not have. NumPy's numbers are not copied."""
    import pyarrow

    m = s.maps[0] if len(s.maps) == 1 else None
    if len(s.maps) != 1 or not (m is None or (isinstance(m, Copy) and m.block == 1)):
        refuse(ValueError, name, "a lazy array of one dim, by repeat_interleave", f"{len(s.maps)} dims by {s.maps}")
    if found := of(s.base).unreadable(s.base):
        refuse(TypeError, name, "an array or tensor on the host", found)
    try:
        values = of(s.base).to_numpy(s.base)
        kind_of_values = pyarrow.from_numpy_dtype(values.dtype) if values.dtype.kind not in "OSU" else None
    except (TypeError, pyarrow.ArrowException):
        refuse(TypeError, name, "a dtype that NumPy and Arrow have", dtype_name(s.base))
    ends = run_ends(m) if m is not None else np.arange(len(values) + 1)
    lasting = np.diff(ends) > 0
    if not lasting.all():
        values, ends = values[lasting], np.append(0, ends[1:][lasting])
    kind = np.int32 if ends[-1] < 2**31 else np.int64
    return pyarrow.RunEndEncodedArray.from_arrays(
        pyarrow.array(ends[1:].astype(kind)), pyarrow.array(values, kind_of_values)
    )


def from_run_ends(a: Any) -> Stretched:
    """Returns the values, without a copy where NumPy can read them, and the map of their runs. `a` may be a slice."""
    import pyarrow

    if isinstance(a, pyarrow.ChunkedArray) and a.num_chunks == 1:
        a = a.chunk(0)
    if not isinstance(a, pyarrow.RunEndEncodedArray):
        got = f"{type(a).__name__} of {a.type}" if hasattr(a, "type") else type(a).__name__
        refuse(TypeError, "a", "a pyarrow.RunEndEncodedArray, or one chunk of one", got)
    first, n = a.find_physical_offset(), a.find_physical_length()
    values = a.values.slice(first, n)
    if values.null_count:
        refuse(
            ValueError, "a", "runs without nulls, which NumPy's arrays have no place for", f"{values.null_count} nulls"
        )
    ends = a.run_ends.to_numpy()[first : first + n].astype(np.int64) - a.offset
    offsets = np.append(0, np.minimum(ends, len(a)))
    base = values.to_numpy(zero_copy_only=False)
    return stretched(base, [Copy(len(base), len(a), offsets=offsets)])

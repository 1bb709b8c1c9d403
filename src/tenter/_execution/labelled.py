"""resize of xarray's DataArray and Dataset by names of dims. xarray is not imported: the caller has it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._arrays.foreign import class_name
from tenter._arrays.types import Array, Floats
from tenter._execution.masked import Gaps
from tenter._specs import resize_arguments


class Along(NamedTuple):
    """A resized dim.

    at: where outputs are, in inputs
    edges: where outputs begin, and the last one ends, in inputs from the first one's edge on
    """

    n_in: int
    at: Floats
    edges: Floats


def is_labelled(x: Any, size: Any, scale: Any) -> bool:
    """True for xarray's containers in calls that name dims."""
    by_name = isinstance(size, Mapping) or isinstance(scale, Mapping)
    return by_name and type(x).__module__.partition(".")[0] == "xarray" and hasattr(type(x), "coords")


def is_array(x: Any) -> bool:
    return not hasattr(type(x), "data_vars")


def resized(
    resize: Callable[..., Any], x: Any, given: resize_arguments.Arguments, labels: Any, gaps: Gaps, out: Any
) -> Any:
    """Returns x with its dims resized, its coordinates at the positions of the outputs, and its attributes.

    resize: `tenter.resize`, for an array
    """
    size, scale = given.size, given.scale
    how = {**given._asdict(), "labels": labels, **gaps._asdict()}
    del how["size"], how["scale"]
    if out is not None:
        refuse(TypeError, "out", f"none for {class_name(type(x))}", describe(out))
    name = "size" if size is not None else "scale"
    if size is not None and scale is not None:
        refuse(ValueError, "size", "size or scale", "both")
    by_dim = dict(size if size is not None else scale)
    if how.pop("axes") is not None:
        refuse(ValueError, "axes", f"none, as {name} names dims", "some")
    unknown = [d for d in by_dim if d not in x.sizes]
    if unknown or not by_dim:
        got = repr(unknown[0]) if unknown else "none"
        refuse(ValueError, name, f"some of the dims {', '.join(map(str, x.sizes))}", got)
    where = how.get("where")
    if where is not None and not (hasattr(type(where), "dims") or is_array(x)):
        refuse(TypeError, "where", "a DataArray, whose dims have names", describe(where))
    dims = list(by_dim)
    along = _along(x, dims, list(by_dim.values()), name, how)
    coords = _coords(x, along)

    def data(v: Any) -> Any:
        """Returns the resized data of a variable."""
        here = [k for k, d in enumerate(dims) if d in v.dims]
        some = {n: _some(values, here) if n in ("mode", "box") else values for n, values in how.items()}
        values = [by_dim[dims[k]] for k in here]
        if hasattr(type(where), "dims"):
            some["where"] = _mask(where, x, v)
        return resize(v.data, axes=[v.dims.index(dims[k]) for k in here], **{name: values}, **some)

    rest = x.coords.to_dataset().drop_vars([n for n in coords if n in x.coords])
    if is_array(x):
        made = type(x)(data(x), coords=rest.coords, dims=x.dims, attrs=x.attrs)
        made.name = x.name  # which else is Dask's
        return made.assign_coords(coords)
    variables = {
        n: coords.pop(n) if n in coords else (v.dims, data(v), v.attrs) if {*dims} & {*v.dims} else v.variable
        for n, v in x.data_vars.items()
    }
    made = rest.assign(variables).assign_coords(coords)
    made.attrs = dict(x.attrs)
    return made


def _mask(where: Any, x: Any, v: Any) -> Any:
    """Returns a mask with the dims of a variable of x."""
    for d in where.dims:
        if d not in v.dims:
            refuse(ValueError, "where", f"some of the dims {', '.join(map(str, v.dims))}", repr(d))
        if d in where.coords and d in x.coords and not where.coords[d].equals(x.coords[d]):
            refuse(ValueError, "where", f"x's coordinates along {d}", "others")
    found = where.transpose(*(d for d in v.dims if d in where.dims)).data
    return found.reshape([where.sizes.get(d, 1) for d in v.dims])


def _some(values: Any, here: list[int]) -> Any:
    """Returns the values of some dims, if there is one for each."""
    return [values[k] for k in here] if type(values) in (list, tuple) else values


def _along(x: Any, dims: list[Any], values: list[Any], name: str, how: dict[str, Any]) -> dict[Any, Along]:
    lengths = tuple(x.sizes[d] for d in dims)
    given = {n: v for n, v in how.items() if n in resize_arguments.Arguments._fields and n != "axes"}
    given |= {name: values, "value": 0}
    spec, flipped = resize_arguments.checked(
        np.broadcast_to(np.float32(0), lengths), resize_arguments.Arguments(axes=tuple(range(len(dims))), **given)
    )
    found = {}
    for k, (rule, n_out) in enumerate(zip(spec.rules, spec.size)):
        n = lengths[k]
        geometry = rule.geometry(n, n_out)
        numerators, denominator = geometry.edges()
        index, edges = geometry.index(), np.asarray(numerators / denominator, np.float64)
        found[dims[k]] = Along(n, n - 1 - index, n - edges) if k in flipped else Along(n, index, edges)
    return found


def _coords(x: Any, along: dict[Any, Along]) -> dict[Any, Any]:
    """Returns the coordinates of resized dims, and the bounds of their cells, as what xarray makes variables from."""
    bounds = {c.attrs["bounds"] for c in x.coords.values() if {*c.dims} & {*along} and "bounds" in c.attrs}
    known = x.coords if is_array(x) else x.variables
    found = {}
    for name in [*x.coords, *(b for b in bounds if b in known and b not in x.coords)]:
        c = known[name]
        if not {*c.dims} & {*along}:
            continue
        if name in bounds and len(c.dims) == 2 and c.dims[0] in along and c.shape[1] == 2:
            values = np.asarray(c.values)
            if not np.array_equal(values[1:, 0], values[:-1, 1]):
                _refuse(name, "bounds of cells that touch", "others")
            edges = _at(name, np.append(values[:, 0], values[-1:, 1]), along[c.dims[0]].edges)
            found[name] = (c.dims, np.stack([edges[:-1], edges[1:]], 1), c.attrs)
        elif len(c.dims) == 1 and np.asarray(c.values).dtype.kind in "iufMm":
            found[name] = (c.dims, _at(name, np.asarray(c.values), along[c.dims[0]].at), c.attrs)
        else:
            _refuse(name, "numbers or times along one dim, to resize them too", f"{c.dtype} along {describe(c.dims)}")
    return found


def _at(name: Any, values: Array, index: Floats) -> Array:
    """Returns coordinates between those of inputs. At the ends the last step goes on."""
    n = len(values)
    values = values.astype(np.float64) if values.dtype.kind in "iu" else values
    if n < 2:
        if not np.all(index == 0):
            _refuse(name, "two coordinates or more, whose step is known", f"{n}")
        return values[np.zeros(len(index), np.int64)]
    step = np.diff(values)
    zero = step.dtype.type(0)
    if not (np.all(step > zero) or np.all(step < zero)):
        _refuse(name, "coordinates that ascend or descend", "others")
    i = np.clip(np.floor(index).astype(np.int64), 0, n - 2)
    if values.dtype.kind in "Mm":
        return values[i] + np.rint((index - i) * step.astype(np.int64)[i]).astype(np.int64).view(step.dtype)
    found: Array = (values[i].astype(np.float64) + (index - i) * step[i]).astype(values.dtype)
    return found


def _refuse(name: Any, expected: str, got: str) -> None:
    refuse(ValueError, f"coordinate {name}", f"{expected} (x.drop_vars({name!r}) leaves it out)", got)

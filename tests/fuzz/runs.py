"""One call from its seed: made, run, checked; then again, on other threads, at another level, from other layouts."""

from __future__ import annotations

import copy
import pickle
import re
import sys
import warnings
from fractions import Fraction
from types import CodeType
from typing import Any

import numpy as np
import torch

import tenter
import tenter.torch
from tenter import _native
from tenter.conventions import Convention
from tenter.filters import Filter
from tenter.maps import Copy, Gather, Window

from ..helpers import object_cases, storage_cases
from . import (
    axismaps,
    caches,
    chunked,
    compiled,
    coordinates,
    interpolating,
    large,
    objects,
    operations,
    operators,
    patches,
    pictures,
    processes,
    races,
    ragged,
    ragged_rows,
    resizing,
    samples,
    segments,
    splines,
    storages,
    thresholds,
    volumes,
)
from .arrays import bits, readable, same_bits
from .call import Call
from .draw import Draw
from .oracle import Wrong, unlike

# Makers of calls, and how often each is taken.
KINDS: dict[str, tuple[Any, float]] = {
    **operations.KINDS, **interpolating.KINDS,
    **resizing.KINDS, **pictures.KINDS, **axismaps.KINDS, **operators.KINDS, **races.KINDS,
    **processes.KINDS, **segments.KINDS, **ragged.KINDS, **ragged_rows.KINDS,
    **storages.KINDS, **objects.KINDS, **large.KINDS, **chunked.KINDS, **compiled.KINDS, **samples.KINDS, **patches.KINDS,
    **volumes.KINDS, **coordinates.KINDS, **splines.KINDS,
}  # fmt: skip
NAMES = {
    "np": np, "torch": torch, "tenter": tenter, "copy": copy, "pickle": pickle, "Fraction": Fraction, "Copy": Copy,
    "Gather": Gather, "Window": Window, "Filter": Filter, "Convention": Convention,
    "storage_cases": storage_cases, "object_cases": object_cases, "chunked": chunked, "compiled": compiled,
    "samples": samples, "patches": patches, "volumes": volumes,
}  # fmt: skip
ERRORS = (TypeError, ValueError, IndexError, RuntimeError, MemoryError, NotImplementedError)
# PyTorch's own word about arguments that its dispatcher does not let through.
DISPATCHER = re.compile(r"tenter::|Overloaded torch operator|Could not run|.*\b(SymInt|schema)\b", re.DOTALL)


def kind_of(seed: int) -> str:
    return str(Draw(seed).pick(list(KINDS), [w for _, w in KINDS.values()]))


def made(seed: int) -> Call:
    """The call of a seed. Thresholds are chosen apart from it, so that it is the same whatever there is to lower."""
    r = Draw(seed)
    kind = str(r.pick(list(KINDS), [w for _, w in KINDS.values()]))
    call: Call = KINDS[kind][0](r)
    return call._replace(kind=kind)


def once(seed: int) -> Call:
    """Runs the call of a seed; raises Wrong for a finding, with `call` on it."""
    apart = Draw([seed, 1])  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = made(seed)
        thresholds.lower(apart, call.large)
        return _watched(call, apart)


def _watched(call: Call, apart: Draw) -> Call:
    try:
        _run(call, apart)
    except Wrong as wrong:
        wrong.call, wrong.thresholds = call, thresholds.shown()  # type: ignore[attr-defined]
        raise
    finally:
        thresholds.usual()
    return call


def _alike(call: Call, a: np.ndarray, b: np.ndarray) -> bool:
    """The same bits; but for the signs of NaN where PyTorch negates on reading, which it does in loops that differ."""
    if same_bits(a, b):
        return True
    flagged = any(
        isinstance(n.value, torch.Tensor) and (n.value.is_neg() or n.value.is_conj()) for n in call.names.values()
    )
    return flagged and a.shape == b.shape and a.dtype == b.dtype and not unlike(a, b).any()


def _run(call: Call, r: Draw) -> None:
    code = compile(call.source, "call", "exec")
    before = {n.name: _snapshot(n.value) for n in call.names.values()}
    returned, y = _made(call, code, {})
    if not returned:
        _unchanged(call, before)
        return
    call.check(y)
    _unchanged(call, before)
    if not call.repeats:
        return
    if call.fresh:
        _own_memory(call, y)
    first = bits(y)
    for label, names in _others(call, r):
        _poison(call, y)
        del y
        returned, y = _made(call, code, names)
        if not returned or not _alike(call, bits(y), first):
            raise Wrong(f"not the same {label}", _where(bits(y), first) if returned else "refused")
    _unchanged(call, before)
    if r.chance(0.3):
        level = r.pick(_native.testing.levels())
        _native.testing.force_level(level)
        returned, y = _made(call, code, {})
        try:
            call.check(y)
        except Wrong as wrong:
            raise Wrong(f"{wrong.kind}, then at level {level}", wrong.details) from None


def _others(call: Call, r: Draw) -> Any:
    """Ways to make the call that must give the same bits."""
    yield "a second time", {}
    if r.chance(0.5):
        caches.forget_plans()
        yield "planned again, where the core may do it", {}
    if r.chance(0.3):
        tenter.set_num_threads(r.pick((1, 2, 4)))
        yield "on other threads", {}
    yield from call.again


def _made(call: Call, code: CodeType, others: dict[str, Any]) -> tuple[bool, Any]:
    """Did it return, and what?"""
    space = {**NAMES, **{n.name: n.value for n in call.names.values()}, **others}
    try:
        exec(code, space)
    except (Wrong, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        _judge(call, error)
        return False, None
    if call.refuses:
        raise Wrong("accepted what is wrong", f"expected {_names(call.refuses)}, got {_short(space.get('y'))}")
    return True, space["y"]


def _judge(call: Call, error: BaseException) -> None:
    """An error may be right."""
    said = str(error)
    what = f"{type(error).__name__}: {said[:600]}"
    if not call.refuses and not call.lies:
        raise Wrong("refused what is right", what) from error
    fits = isinstance(error, call.refuses or ERRORS)
    form = re.match(call.message, said) or (call.lies and DISPATCHER.match(said))
    if not fits:
        raise Wrong(f"raised {type(error).__name__}", f"{what}; expected {_names(call.refuses or ERRORS)}") from error
    if not form:
        raise Wrong(f"raised a bare {type(error).__name__}", what) from error


def _names(kinds: tuple[type[BaseException], ...]) -> str:
    return " or ".join(k.__name__ for k in kinds)


def _short(y: Any) -> str:
    text = f"{type(y).__name__} {getattr(y, 'dtype', '')} {tuple(getattr(y, 'shape', ()))}"
    return f"{text} {y!r}"[:300]


def _arrays(value: Any) -> bool:
    return isinstance(value, (np.ndarray, torch.Tensor))


def _snapshot(value: Any) -> np.ndarray | None:
    if isinstance(value, torch.Tensor) and not readable(value):
        return None
    return bits(value) if _arrays(value) else None


def _unchanged(call: Call, before: dict[str, np.ndarray | None]) -> None:
    if not call.repeats:
        return
    for named in call.names.values():
        was = before[named.name]
        if was is not None and not named.name.startswith("out") and not same_bits(bits(named.value), was):
            raise Wrong("changed its input", named.name)


def _own_memory(call: Call, y: Any) -> None:
    for named in call.names.values():
        if named.name.startswith("out") or not _arrays(named.value) or not isinstance(named.value, type(y)):
            continue
        if isinstance(y, torch.Tensor):
            shared = y.numel() and y.untyped_storage().data_ptr() == named.value.untyped_storage().data_ptr()
        else:
            shared = np.may_share_memory(y, named.value)
        if shared:
            raise Wrong("no memory of its own", f"shares {named.name}'s")


def _poison(call: Call, y: Any) -> None:
    """Whatever uses this memory next and leaves some of it as it was will be seen."""
    if not call.fresh:
        return
    if isinstance(y, torch.Tensor):
        y = y.detach()
        if y.is_contiguous() and y.numel():
            y.view(-1).view(torch.uint8).fill_(0xEE)
    elif y.flags.c_contiguous and not y.dtype.hasobject and y.size and y.dtype.itemsize:
        y.reshape(-1).view(np.uint8)[...] = 0xEE


def _where(a: np.ndarray, b: np.ndarray) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
    if a.dtype.kind in "VO":
        return "bytes"
    return (
        f"{int(np.sum((a != b) & ~((a != a) & (b != b))))} of {a.size} elements: {a.ravel()[:4]}, first {b.ravel()[:4]}"
    )


if sys.platform == "win32":
    raise ImportError("the fuzzer needs mprotect")

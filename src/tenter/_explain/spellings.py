"""The same call in PyTorch, NumPy, einops and JAX. It is code with `x` for the input and `repeats` for the counts, or a
reason in parentheses why there is none. `tests/explain/test_explain_spellings.py` runs it."""

import string
from typing import Any

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._explain import resampled
from tenter._explain.facts import Facts
from tenter._specs.applied import AppliedMaps
from tenter._specs.repeat import Repeat, RepeatCounts

# Counts that are written out.
MOST_COUNTS = 8
LETTERS = string.ascii_lowercase


def spellings(facts: Facts) -> dict[str, str]:
    spec = facts.made.spec
    if isinstance(spec, AppliedMaps):  # a lazy array's, which no other library has
        return {}
    if isinstance(spec, RepeatCounts) or (isinstance(spec, Repeat) and spec.each):
        found = _elements(facts)
    elif facts.view:
        found = _expanded(facts)
    elif isinstance(spec, Repeat):
        found = _whole(facts)
    else:
        found = resampled.spellings(facts)
    dtype = facts.x.dtype
    if dtype not in DTYPES and dtype != "bool":
        found |= dict.fromkeys(("PyTorch", "JAX"), f"(none: it has no dtype {dtype})")
    if dtype in ("bfloat16", "complex32"):
        found["NumPy"] = f"(none: it has no dtype {dtype})"
    return found


def _elements(facts: Facts) -> dict[str, str]:
    """Spellings of repeat_interleave."""
    spec, shape, ndim = facts.made.spec, facts.made.x.shape, len(facts.shape_in)
    dim = spec.dim if isinstance(spec, RepeatCounts) else next((d for d, r in enumerate(spec.sizes) if r != 1), 0)
    whole = ndim < 2 or len(shape) < ndim
    along, axis = ("", "") if whole else (f", dim={dim}", f", axis={dim}")
    if isinstance(spec, RepeatCounts):
        if len(spec.offsets) - 1 <= MOST_COUNTS:
            counts = str(np.diff(spec.offsets).tolist())
            torchs, numpys, jaxs = f"torch.tensor({counts})", counts, f"jnp.array({counts})"
        else:
            torchs = numpys = jaxs = "repeats"
        einops = "(none: it repeats by one number)"
    else:
        torchs = numpys = jaxs = str(spec.sizes[dim])
        einops = _einops_elements(spec, dim, ndim, whole)
    if facts.positions:
        n = len(spec.offsets) - 1
        numpy = f"np.repeat(np.arange({n}), {numpys})"
        return {
            "PyTorch": f"torch.repeat_interleave({torchs})", "NumPy": numpy, "einops": einops,
            "JAX": f"jnp.repeat(jnp.arange({n}), {jaxs})",
        }  # fmt: skip
    return {
        "PyTorch": f"torch.repeat_interleave(x, {torchs}{along})", "NumPy": f"np.repeat(x, {numpys}{axis})",
        "einops": einops, "JAX": f"jnp.repeat(x, {jaxs}{axis})",
    }  # fmt: skip


def _einops_elements(spec: Repeat, dim: int, ndim: int, whole: bool) -> str:
    each = spec.sizes[dim] if spec.sizes else 1
    if not ndim or not each:
        return f"(none: {'a 0-d array has no axis to name' if not ndim else 'no axis may vanish'})"
    names = list(LETTERS[:ndim])
    if whole:
        return _einops(names, [f"({' '.join(names)} {each})"])
    return _einops(names, [f"({n} {each})" if d == dim and each != 1 else n for d, n in enumerate(names)])


def _whole(facts: Facts) -> dict[str, str]:
    """Spellings of repeat and tile."""
    sizes, ndim = facts.made.spec.sizes, len(facts.shape_in)
    words = f"{sizes[0]}" if len(sizes) == 1 else str(sizes)
    torch = f"x.repeat({', '.join(map(str, sizes))})" if facts.name == "repeat" else f"torch.tile(x, {sizes})"
    names, front = list(LETTERS[:ndim]), len(sizes) - ndim
    if 0 in sizes:
        einops = "(none: no axis may vanish)"
    elif not ndim:
        einops = "(none: a 0-d array has no axis to name)"
    else:
        own = [n if r == 1 else f"({r} {n})" for n, r in zip(names, sizes[front:])]
        einops = _einops(names, [*map(str, sizes[:front]), *own])
    return {"PyTorch": torch, "NumPy": f"np.tile(x, {words})", "einops": einops, "JAX": f"jnp.tile(x, {words})"}


def _expanded(facts: Facts) -> dict[str, str]:
    shape, given = facts.shape_out, facts.shape_in
    front = len(shape) - len(given)
    names = [n if a == b else "1" for n, a, b in zip(LETTERS, given, shape[front:])]
    if 0 in shape or not given:
        einops = f"(none: {'no axis may vanish' if 0 in shape else 'a 0-d array has no axis to name'})"
    else:
        einops = _einops(
            names, [*map(str, shape[:front]), *(n if n != "1" else str(m) for n, m in zip(names, shape[front:]))]
        )
    return {
        "PyTorch": f"x.expand({', '.join(map(str, shape))})", "NumPy": f"np.broadcast_to(x, {shape})",
        "einops": einops, "JAX": f"jnp.broadcast_to(x, {shape})",
    }  # fmt: skip


def _einops(before: list[str], after: list[Any]) -> str:
    if len(before) > len(LETTERS):
        return "(none: too many axes to name)"
    return f'einops.repeat(x, "{" ".join(before)} -> {" ".join(after)}")'

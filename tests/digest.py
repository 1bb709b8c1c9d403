"""Hashes of the results of random calls, to compare two versions of tenter bit for bit.

    PYTHONPATH=OLD/src python -m tests.digest --calls 20000 --seed 0 --write FILE    # before a change
    PYTHONPATH=$PWD/src python -m tests.digest --compare FILE --close                # after it

The makers of tests/fuzz draw the calls: sizes, scales, boxes, gradients, `out`, values past the edges. FILE (gzipped
JSON, one call a line) holds their Python source, which --compare runs again: it needs the public names of tenter,
tests/fuzz/arrays.py and tests/fuzz/caches.py, and nothing else of the fuzzer. Each call is made in every way that the
caches allow (WAYS), and all of them must give what they gave. Both commands print which functions of tenter's Python
code the calls of each way ran; where they ran none, the core did it alone.
"""

from __future__ import annotations

import argparse
import base64
import copy
import faulthandler
import gzip
import hashlib
import itertools
import json
import pickle
import re
import resource
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch

import tenter
import tenter.torch
from tenter.conventions import Convention
from tenter.filters import Filter
from tenter.maps import Copy, Gather, Window

from .fuzz import caches
from .fuzz.arrays import Array, bits, dtype_name, numbers

# These start processes, race threads or lie about memory: their results say nothing.
SKIPPED = ("process", "counts that change", "torch.ops", "storage too small", "arguments that act")
NAMES = {
    "np": np, "torch": torch, "tenter": tenter, "copy": copy, "pickle": pickle, "Fraction": Fraction, "Copy": Copy,
    "Gather": Gather, "Window": Window, "Filter": Filter, "Convention": Convention, "Array": Array,
}  # fmt: skip
CHUNK = 100
SECONDS = 300  # for a chunk
SHOWN, EACH, WIDTH = 20, 3, 600  # differing calls that are printed, of each kind, and letters of a line
KEPT = 4096  # elements of a result whose values FILE keeps
BYTES = 6 << 30  # of a process: a huge result is a MemoryError, as on the machine that wrote FILE
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52, "float128": 2.0**-63}
# How a call is made: the first of its kind; again, when only how such calls are planned is cached; with its plan cached.
WAYS = ("first", "planned anew", "cached")
# Functions whose runs are counted, by name and file; those that a version does not have count nothing.
COUNTED = {
    "_planned": {"tenter/_plans/plan.py": "planned in Python"},
    "perform": {"tenter/_execution/calls.py": "checked", "tenter/_execution/fill_value.py": "value in Python"},
    "perform_flipped": {"tenter/_execution/calls.py": "checked"},
    "run": {
        "tenter/_execution/numpy_executor.py": "plan run by Python", "tenter/_torch/run.py": "plan run by Python",
        "tenter/_plans/reference.py": "reference",
    },
    "_forward": {"tenter/_torch/operators.py": "operator"},
    "call": {"tenter/_torch/dispatch.py": "dispatched"},
    "run_cached": {"tenter/_torch/gradients.py": "gradient recorded"},
    "execute": {"tenter/_torch/gradients.py": "gradient recorded"},
}  # fmt: skip
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64", "complex256": "float128"}


def result(source: str) -> dict[str, Any]:
    """What a call gives the first time, and the hashes and the counted functions of all ways."""
    caches.forget()
    found, ran = _counted(source)
    hashes, counts = [found["hash"]], [ran]
    caches.forget_plans()
    again, ran = _counted(source)
    hashes.append(again["hash"]), counts.append(ran)
    with caches.plans_kept_at_once():
        _result(source)
        again, ran = _counted(source)
    hashes.append(again["hash"]), counts.append(ran)
    return {**found, "hashes": hashes, "ran": counts}


def _counted(source: str) -> tuple[dict[str, str], list[str]]:
    """What a call gives, and the counted functions that it ran."""
    ran: set[str] = set()

    def see(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name in COUNTED:
            ran.update(words for file, words in COUNTED[code.co_name].items() if code.co_filename.endswith(file))

    sys.setprofile(see)
    try:
        found = _result(source)
    finally:
        sys.setprofile(None)
    return found, sorted(ran)


def _result(source: str) -> dict[str, str]:
    """The hash of a call's result, its layout and values in words; or its error."""
    space = dict(NAMES)
    try:
        exec(source, space)
    except Exception as error:
        said = re.sub(r"0x[0-9a-f]+", "0x", f"{type(error).__name__}: {error}")
        return {"hash": _hash(said.encode()), "said": said}
    y = space["y"]
    if isinstance(y, (list, tuple)):
        return {"hash": _hash(*(part for v in y for part in _parts(v, source)))}
    found = {"hash": _hash(*_parts(y, source)), "layout": _layout(y)}
    if _numeric(y) and np.prod(y.shape) <= KEPT:
        found["values"] = base64.b64encode(zlib.compress(numbers(y).tobytes(), 1)).decode()
        found["dtype"] = numbers(y).dtype.str
    return found


def _hash(*parts: bytes) -> str:
    return hashlib.blake2b(b"\0".join(parts), digest_size=16).hexdigest()


def _layout(y: Any) -> str:
    """Library, dtype, shape, and strides where they say something."""
    if isinstance(y, torch.Tensor):
        flags = "conj " * y.is_conj() + "neg " * y.is_neg()
        dtype, strides = flags + str(y.dtype), y.stride()
    else:
        dtype, strides = f"{type(y).__name__} {np.dtype(y.dtype).str}", y.strides
    empty = 0 in y.shape
    return f"{dtype} {list(y.shape)} {[s for n, s in zip(y.shape, strides) if n > 1 and not empty]}"


def _parts(y: Any, source: str) -> tuple[bytes, bytes]:
    if not isinstance(y, (np.ndarray, torch.Tensor)):
        return type(y).__name__.encode(), repr(y).encode()
    held = bits(y)
    if held.dtype.hasobject:
        return _layout(y).encode(), repr(held.tolist()).encode()
    if held.dtype.char in "gG":  # whose last bytes are padding
        held = held.astype(held.dtype.newbyteorder("=")).reshape(-1).view(np.uint8).reshape(-1, 16)[:, :10]
    elif "flag=" in source and held.dtype.kind in "fc":  # PyTorch negates in loops that give NaN either sign
        held = np.where(held != held, held.dtype.type(np.nan), held)
    return _layout(y).encode(), held.tobytes()


def _numeric(y: Any) -> bool:
    if isinstance(y, torch.Tensor):
        return not str(y.dtype).startswith("torch.float8") and y.dtype != torch.bool
    return isinstance(y, np.ndarray) and y.dtype.kind in "iufc"


def _begin() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    faulthandler.enable()
    torch.set_num_threads(1)


def _drawn(seeds: list[int]) -> list[dict[str, Any]]:
    from .fuzz import runs  # which needs the names of one version of tenter

    found = []
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = runs.made(seed)
        found.append({"seed": seed, "kind": call.kind, "source": call.body()})
    return _ran(found)


def _ran(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [{k: c[k] for k in ("seed", "kind", "source")} | result(c["source"]) for c in calls]
    faulthandler.cancel_dump_traceback_later()
    return found


def _in_processes(work: Any, items: list[Any], jobs: int) -> Iterator[dict[str, Any]]:
    """work on chunks of items, in order."""
    chunks = [items[k : k + CHUNK] for k in range(0, len(items), CHUNK)]
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin) as pool:
        for chunk, done in zip(chunks, [pool.submit(work, c) for c in chunks]):
            try:
                yield from done.result()
            except BrokenProcessPool:
                first = chunk[0] if isinstance(chunk[0], int) else chunk[0]["seed"]
                sys.exit(f"a process crashed or hung: a call from seed {first} on, or one in the chunk beside it")


def write(file: str, base: int, calls: int, jobs: int) -> None:
    from .fuzz import runs

    seeds = list(itertools.islice((s for s in itertools.count(base) if runs.kind_of(s) not in SKIPPED), calls))
    lines = []
    with gzip.open(file, "wt", 1) as held:
        for line in _in_processes(_drawn, seeds, jobs):
            held.write(json.dumps(line) + "\n")
            lines.append({"hashes": line["hashes"], "ran": line["ran"]})
    _print_ways(lines)


def _print_ways(lines: list[dict[str, Any]]) -> None:
    """How many calls ran each counted function, for each way."""
    ran = [Counter(words for line in lines for words in line["ran"][k] or ["none of these"]) for k in range(len(WAYS))]
    print("\ncalls that ran" + "".join(f"{way:>16}" for way in WAYS))
    for words in sorted(set().union(*ran)):
        print(f"  {words:28}" + "".join(f"{n[words]:10d}      " for n in ran))
    unequal = sum(len(set(line["hashes"])) > 1 for line in lines)
    print(f"{unequal} calls give in one way what they do not give in another")


def compare(file: str, jobs: int, close: bool, respelled: list[str]) -> bool:
    """Whether every call of FILE gives what it gave, in every way."""
    with gzip.open(file, "rt") as held:
        before = [json.loads(line) for line in held]
    for pair in respelled:
        old, new = pair.split("=")
        for line in before:
            line["source"] = line["source"].replace(f"'{old}'", f"'{new}'")
    total = Counter(line["kind"] for line in before)
    differ: list[tuple[dict[str, Any], dict[str, Any]]] = []
    lines = []
    for was, now in zip(before, _in_processes(_ran, before, jobs)):
        lines.append({"hashes": now["hashes"], "ran": now["ran"]})
        if was["hashes"] != now["hashes"]:
            differ.append((was, now))
    why = Counter((was["kind"], _why(was, now)) for was, now in differ)
    for kind, n in sorted(total.items()):
        found = ", ".join(f"{m} by {what}" for (k, what), m in sorted(why.items()) if k == kind)
        print(f"{n:8d}  {kind}: {found or 'all the same'}")
    shown: Counter[tuple[str, str]] = Counter()
    for was, now in differ:
        group = was["kind"], _why(was, now)
        shown[group] += 1
        if shown[group] <= EACH and sum(min(n, EACH) for n in shown.values()) <= SHOWN:
            source = "\n".join(line[:WIDTH] for line in now["source"].splitlines())
            print(f"\n=== seed {was['seed']}, {': '.join(group)}\n{source}\n{_apart(was, now)}")
    _print_ways(lines)
    if close:
        _print_close(differ)
    print(f"\n{len(differ)} of {len(before)} calls differ")
    return not differ


def _why(was: dict[str, Any], now: dict[str, Any]) -> str:
    if was["hash"] == now["hash"]:
        return "only when " + ", ".join(w for w, a, b in zip(WAYS, was["hashes"], now["hashes"]) if a != b)
    if "said" in was and "said" in now:
        same = was["said"].split(":")[0] == now["said"].split(":")[0]
        return "the error's message" if same else "the error's class"
    if "said" in was or "said" in now:
        return "an error that is new" if "said" in now else "an error that is gone"
    return "values" if was.get("layout") == now.get("layout") else "dtype, shape or layout"


def _apart(was: dict[str, Any], now: dict[str, Any]) -> str:
    """Both, in words."""
    lines = [f"--- {word} {line.get('said', line.get('layout', line['hash']))[:WIDTH]}"
             for word, line in (("was", was), ("is ", now))]  # fmt: skip
    if "values" in was and "values" in now and was["layout"] == now["layout"]:
        a, b = _values(was), _values(now)
        at = np.flatnonzero((a != b) & ~((a != a) & (b != b)))
        first = (
            f", first {a[at[0]]!r}, now {b[at[0]]!r}" if len(at) else " (NaNs of other bits, or zeros of other signs)"
        )
        lines.append(f"    {len(at)} of {len(a)} numbers{first}")
    return "\n".join(lines)


def _values(line: dict[str, Any]) -> np.ndarray:
    """Real numbers, or the parts of complex ones."""
    values = np.frombuffer(zlib.decompress(base64.b64decode(line["values"])), line["dtype"])
    return values.view(values.real.dtype)


def _print_close(differ: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """How far results are apart: integers in steps, floats in units of the last place of the result's largest number."""
    found: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for was, now in differ:
        if "values" not in was or "values" not in now or was["layout"].split("[")[1] != now["layout"].split("[")[1]:
            continue
        a, b = _values(was), _values(now)
        finite = np.isfinite(a) & np.isfinite(b)
        name = _dtype(was)
        unit = EPSILON.get(PARTS.get(name, name), 0) * float(np.abs(a[finite]).max(initial=0)) or 1.0
        apart = np.abs(a[finite].astype(np.longdouble) - b[finite].astype(np.longdouble)).max(initial=0)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            apart = np.inf
        found.setdefault((was["kind"], name), []).append((float(apart / unit), was["seed"]))
    print("\nlargest differences, in units of the last place of the largest number (integers: in steps)")
    for (kind, name), all_of_it in sorted(found.items()):
        worst, seed = max(all_of_it)
        middle = sorted(all_of_it)[len(all_of_it) // 2][0]
        print(f"{worst:12.4g}  {kind}, {name}: seed {seed}; median {middle:.3g} of {len(all_of_it)}")


def _dtype(line: dict[str, Any]) -> str:
    name = line["layout"].split(" [")[0].split()[-1]
    return name.removeprefix("torch.") if name.startswith("torch.") else dtype_name(np.empty(0, name))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.digest", description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="FILE", help="make calls and keep what comes of them")
    parser.add_argument("--compare", metavar="FILE", help="make the calls of FILE again; exit status 1 if any differs")
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0, help="of the first call; the next one's is one more")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--close", action="store_true", help="also how far differing results are apart")
    parser.add_argument("--respell", metavar="OLD=NEW", action="append", default=[], help="of a string that calls pass")
    how = parser.parse_args()
    if bool(how.write) == bool(how.compare):
        parser.error("one of --write and --compare")
    if how.write:
        write(how.write, how.seed, how.calls, how.jobs)
        return 0
    return not compare(how.compare, how.jobs, how.close, how.respell)


if __name__ == "__main__":
    sys.exit(main())

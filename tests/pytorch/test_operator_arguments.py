"""Registered operators called with what no public function passes: every operator, as memory, as shapes alone, with a
gradient, and under vmap, says `argument: expected ..., got ...` and never fails in another way."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import tenter.torch  # noqa: E402
from sweeps import in_one_test  # noqa: E402

tenter.torch.report()  # registers them

HUGE, I64 = 2**62, torch.int64
RULE = "linear,half_pixel,,,,floor,torch,replicate,,-0.75"
X, IMAGE = torch.zeros(2, 3), torch.zeros(1, 2, 4, 5)
OFFSETS = torch.tensor([0, 1, 3])
LINEAR = ("linear", False, False, False)

# A good call of each operator.
GOOD = {
    "repeat": (X, [2, 1], False),
    "repeat_adjoint": (X, [1, 3], [2, 1], False),
    "repeat_counts": (X, OFFSETS, 0, 3),
    "repeat_counts_adjoint": (torch.zeros(3, 2), OFFSETS, 0),
    "interpolate": (IMAGE, [3, 3], None, *LINEAR),
    "interpolate_adjoint": (IMAGE, [3, 3], None, *LINEAR),
    "resize": (X, [5], [1], RULE, "once"),
    "resize_adjoint": (X, [5], [1], RULE, "once"),
    "offsets": (torch.tensor([1, 2]), 2, None),
    "total": (OFFSETS,),
}
LISTS = [[], [3], [-1, 3], [3, -(2**63)], [HUGE, HUGE], [2**63 - 1, 2**63 - 1], [0, 2**63 - 1], [1] * 70, [2, 2, 2]]
INTS = [-1, 2, 7, -(2**63), HUGE, 2**63 - 1]
RULES = [
    "", "nonsense", ";", ";;", ",,,,,,,,,", RULE + ";" + RULE, "filter 7" + RULE[6:], "filter -1" + RULE[6:],
    "filter " + RULE[6:], RULE[:-5] + "nan", RULE[:-5] + "1e400", RULE.replace("half_pixel", "middle"), "\0" * 9, "é" * 99,
    RULE.replace("half_pixel,", "half_pixel,1/0"), RULE.replace("half_pixel,", "half_pixel,0"), RULE.replace("half_pixel,", "half_pixel,1/1" + "0" * 300),
]  # fmt: skip
SCALARS = [torch.tensor(1.0), torch.tensor(1), torch.zeros(0), torch.zeros(0, 3), torch.zeros(2, 0, 3)]


def shrunk(x):
    x = x.clone()
    x.untyped_storage().resize_(0)
    return x


WRONG_OFFSETS = [
    torch.tensor(3), torch.tensor([], dtype=I64), torch.tensor([0]), torch.tensor([0, 5, 3]), torch.tensor([-1, 1, 3]),
    torch.tensor([1, 2, 3]), torch.tensor([0, 4, 3]), torch.tensor([0, 1, 4]), torch.tensor([0, 1, 2, 3]),
    torch.tensor([0, -(2**63), 3]), torch.tensor([0, 2**63 - 1, 3]), torch.tensor([[0, 1, 3]]), OFFSETS.float(),
    OFFSETS.int(), OFFSETS.bool(), OFFSETS.to(torch.complex64), OFFSETS.to(torch.uint64), OFFSETS.to("meta"),
    shrunk(OFFSETS),
]  # fmt: skip
# By operator and place of the argument.
WRONG = {
    ("repeat", 0): SCALARS + [shrunk(X)],
    ("repeat", 1): LISTS,
    ("repeat_adjoint", 0): SCALARS + [X.bool(), shrunk(X)],
    ("repeat_adjoint", 1): LISTS,
    ("repeat_adjoint", 2): LISTS,
    ("repeat_counts", 0): SCALARS + [shrunk(X)],
    ("repeat_counts", 1): WRONG_OFFSETS,
    ("repeat_counts", 2): INTS,
    ("repeat_counts", 3): INTS,
    ("repeat_counts_adjoint", 0): SCALARS + [shrunk(torch.zeros(3, 2)), torch.zeros(3, 2).bool()],
    ("repeat_counts_adjoint", 1): WRONG_OFFSETS,
    ("repeat_counts_adjoint", 2): INTS,
    ("interpolate", 0): SCALARS + [X, IMAGE.bool(), IMAGE[0], IMAGE[:, :, :0], shrunk(IMAGE), torch.zeros([1] * 9)],
    ("interpolate", 1): LISTS,
    ("interpolate", 2): [[1.0], [0.0, 1.0], [float("nan"), 1.0], [float("inf"), 1.0], [-1.0, 1.0], [1e-300, 1e-300], [1e300, 1.0]],
    ("interpolate", 3): ["", "bogus", "bilinear", "lanczos", "\0", "x" * 10**5],
    ("interpolate_adjoint", 0): SCALARS + [X, IMAGE.bool(), IMAGE[0], IMAGE[:, :, :0], shrunk(IMAGE)],
    ("interpolate_adjoint", 1): LISTS,
    ("interpolate_adjoint", 2): [[1.0], [0.0, 1.0], [float("nan"), 1.0], [1e-300, 1e-300], [1e300, 1.0]],
    ("interpolate_adjoint", 3): ["", "bogus", "bilinear", "lanczos", "\0"],
    ("resize", 0): SCALARS + [X.bool(), X[:, :0], shrunk(X)],
    ("resize", 1): LISTS,
    ("resize", 2): [*LISTS, [1, 0], [1, 1]],
    ("resize", 3): RULES,
    ("resize_adjoint", 0): SCALARS + [X.bool(), shrunk(X)],
    ("resize_adjoint", 1): [*LISTS, [0]],
    ("resize_adjoint", 2): [*LISTS, [1, 0], [1, 1]],
    ("resize_adjoint", 3): RULES,
    ("offsets", 0): [*SCALARS, torch.tensor([1.5, 1]), torch.tensor([-1, 2]), torch.tensor([HUGE, HUGE]), torch.tensor([True, False]),
                     torch.tensor([1, 2, 3]), shrunk(torch.tensor([1, 2])), torch.tensor([1, 2]).to(torch.complex64)],
    ("offsets", 1): INTS,
    ("offsets", 2): [*INTS],
    ("total", 0): [*SCALARS, OFFSETS.float() * float("nan"), OFFSETS.bool(), OFFSETS.int(), shrunk(OFFSETS), torch.tensor([-3])],
}  # fmt: skip
# Right after all, or as far as shapes say.
RIGHT = {("offsets", 1, 2), ("repeat_counts", 2, -1)}


def calls():
    for (name, place), values in WRONG.items():
        for value in values:
            if (name, place, value if isinstance(value, int) else None) in RIGHT and value == 2:
                continue
            args = list(GOOD[name])
            args[place] = value
            yield name, place, args


CALLS = list(calls())
ERRORS = (TypeError, ValueError, IndexError, MemoryError)
FORM = re.compile(r"(\w[\w ]*|axis map): expected [^\n]+")


def called(name, args):
    """The result, or None for an error that says what is wrong; anything else is raised."""
    try:
        return getattr(torch.ops.tenter, name)(*args)
    except ERRORS as error:
        assert FORM.match(str(error)), f"{name}{args}: {type(error).__name__}: {error}"
        assert type(error) in ERRORS, type(error)
        return None


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def has_memory(x):
    return is_tensor(x) and x.device.type == "cpu" and (x.untyped_storage().nbytes() > 0 or not x.numel())


SKIPPED = object()


def as_memory(name, args):
    return called(name, args)


def with_gradient(name, args):
    args = [
        a.detach().requires_grad_() if is_tensor(a) and a.is_floating_point() and k == 0 else a
        for k, a in enumerate(args)
    ]
    result = called(name, args)
    if is_tensor(result) and result.requires_grad:
        result.sum().backward()
    return result


def as_shapes(name, args):
    return called(name, [a.to("meta") if is_tensor(a) else a for a in args])


def as_fakes(name, args):
    if not all(has_memory(a) for a in args if is_tensor(a)):
        return SKIPPED
    with FakeTensorMode() as mode:
        return called(name, [mode.from_tensor(a) if is_tensor(a) else a for a in args])


def under_vmap(name, args):
    """What is wrong for one is wrong for each of two, and what is right for two has their shape."""
    found = []

    def one(*tensors):
        given = iter(tensors)
        result = called(name, [next(given) if is_tensor(a) else a for a in args])
        found.append(result is not None)
        return result if is_tensor(result) else tensors[0]

    tensors = [a for a in args if is_tensor(a)]
    if not all(map(has_memory, tensors)):
        return SKIPPED
    torch.func.vmap(one)(*(torch.stack([t, t]) for t in tensors))
    return found[0] or None


WAYS = [as_memory, with_gradient, as_shapes, as_fakes, under_vmap]


@in_one_test("way", WAYS)
@in_one_test("name", GOOD)
def test_good_calls_have_results(name, way):
    if name == "total" and way in (as_shapes, as_fakes):
        assert way(name, list(GOOD[name])) is None
    else:
        assert way(name, list(GOOD[name])) is not None


@pytest.mark.filterwarnings("ignore")
@in_one_test("way", WAYS)
@in_one_test("name", GOOD)
def test_lying_arguments(name, way):
    """Refused in the house's form, or a result where they are odd and right; what works on memory works on shapes."""
    for operator, _, args in CALLS:
        if operator == name:
            result = way(name, args)
            if result is None and name != "total":
                assert as_memory(name, args) is None, args
            if way is under_vmap and result not in (None, SKIPPED):
                assert as_memory(name, args) is not None, args


def test_dims_in_front_of_a_mapped_one():
    """Negative dims are no dims of a vmap's batch."""
    ops, x, counts = torch.ops.tenter, torch.zeros(3, 2, 4), torch.tensor([0, 1, 2, 3])
    for call in (
        lambda x: ops.resize(x, [5], [-1], RULE, "once"),
        lambda x: ops.resize_adjoint(x, [5], [-1], RULE, "once"),
        lambda x: ops.repeat_counts(x, counts, -1, 3),
        lambda x: ops.repeat_counts_adjoint(x, counts, -1),
    ):
        with pytest.raises((ValueError, IndexError), match=r"(axes|dim): expected"):
            torch.func.vmap(call)(x)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("n", [10**11, 10**12])
def test_gradients_to_lengths_that_have_no_room(n, grad):
    g = torch.zeros(1, 1, 5, requires_grad=grad)
    ops = torch.ops.tenter
    for call in (
        lambda: ops.interpolate_adjoint(g, [n], None, *LINEAR),
        lambda: ops.interpolate_adjoint(g, [n], None, "nearest", False, False, False),
        lambda: ops.resize_adjoint(g, [n], [2], RULE, "once"),
    ):
        with pytest.raises(MemoryError, match="GiB"):
            call()


@pytest.mark.slow
def test_in_an_interpreter_of_their_own():
    """A crash ends it."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from test_operator_arguments import *\n"
        "for name, _, args in CALLS:\n"
        "    as_memory(name, args)\n"
        "print('survived')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-X", "faulthandler", "-c", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-800:]

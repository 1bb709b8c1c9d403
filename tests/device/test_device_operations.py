"""Every operation on a device, and its gradient, gives what the host gives: any dtype, layout and address."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from cuda_helpers import INTERPRETED, some
from on_host import close, on_host, on_the_host, values

import tenter
from cases import OPS, OpCase
from sweeps import sampled

pytestmark = pytest.mark.gpu
INTEGERS = [torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
FP8 = [torch.float8_e4m3fn, torch.float8_e5m2]


def gradient(op: str, x: torch.Tensor, g: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    x = x.detach().requires_grad_()
    getattr(tenter, op)(x, *args, **kwargs).backward(g)
    assert x.grad is not None
    return x.grad


def rounds_unlike_the_host(case: OpCase) -> bool:
    """PyTorch's rule on a device is not its rule on the host: nearest kinds by scale, and scales that keep the length."""
    if "scale_factor" not in case.kwargs:
        return False
    keeps = any(n > 1 for n in case.shape[2:])
    keeps &= all(int(n * case.kwargs["scale_factor"]) == n for n in case.shape[2:])
    return str(case.kwargs["mode"]).startswith("nearest") or keeps


@pytest.mark.parametrize("case", some(enumerate(OPS), 70, lambda c: f"{c[0]}-{c[1].op}"))
def test_equals_the_host(case: tuple[int, OpCase], on: str) -> None:
    case = case[1]
    if rounds_unlike_the_host(case):
        pytest.skip("as PyTorch on a device: test_peers.py, test_scales_of_devices in test_torch.py")
    x = values(case.shape, torch.float32)
    y = getattr(tenter, case.op)(x.to(on), *case.args, **case.kwargs)
    want = on_the_host(case.op, x, *case.args, **case.kwargs)
    close(y, want, scale=4, bits=case.op != "interpolate")
    g = values(tuple(want.shape), torch.float32, 1)
    got = gradient(case.op, x.to(on), g.to(on), *case.args, **case.kwargs)
    with on_host():
        want = gradient(case.op, x, g, *case.args, **case.kwargs)
    close(got, want, scale=8)


COPIES: list[tuple[str, tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = [
    ("repeat_interleave", (3, 5), (2, 1), {}),
    ("repeat_interleave", (3, 5), ([2, 0, 3], 0), {}),
    ("repeat", (3, 5), (2, 3), {}),
    ("tile", (2, 48), ((2,),), {}),
    ("interpolate", (1, 2, 5, 7), (), {"size": (10, 21)}),
]


# Of each size one.
OF_A_SIZE = (torch.uint8, torch.float16, torch.float32, torch.int64, torch.complex128)
MOVED = [*INTEGERS, *FLOATS, *COMPLEX, *FP8, torch.bool]


@pytest.mark.parametrize("dtype", some(MOVED, 1, str, lambda d: d in OF_A_SIZE or d in FP8[:1]))
def test_copies_move_every_dtype(dtype: torch.dtype, on: str) -> None:
    for op, shape, args, kwargs in COPIES:
        x = values(shape, torch.float32).to(dtype) if dtype in FP8 else values(shape, dtype)
        got = getattr(tenter, op)(x.to(on), *args, **kwargs)
        close(got, on_the_host(op, x, *args, **kwargs), bits=True)


KINDS = [("bilinear", False), ("bicubic", True), ("area", False)]


@pytest.mark.parametrize("case", some(itertools.product(KINDS, [*INTEGERS, *FLOATS, *COMPLEX]), 26, str))
def test_sums_of_every_dtype(case: tuple[tuple[str, bool], torch.dtype], on: str) -> None:
    (mode, antialias), dtype = case
    for shape, size in [((1, 3, 9, 12), (7, 19)), ((2, 2, 20, 70), (41, 133))]:
        x = values(shape, dtype)
        kwargs = {"size": size, "mode": mode, "antialias": antialias}
        got, want = tenter.interpolate(x.to(on), **kwargs), on_the_host("interpolate", x, **kwargs)
        if dtype in INTEGERS and not (antialias and dtype == torch.uint8):
            # a sum beside a half may be rounded either way
            apart = (got.cpu().to(torch.float64) - want.to(torch.float64)).abs().max()
            assert apart <= (1 if dtype.itemsize < 8 else 2**13)
            if dtype.itemsize < 8:
                assert (got.cpu().to(torch.float64) != want.to(torch.float64)).double().mean() < 0.01
        else:
            close(got, want, scale=4)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_sums_of_integers_are_exact(dtype: torch.dtype, on: str) -> None:
    """What saturates saturates, 64 bits wrap."""
    map_ = tenter.maps.Copy.repeat_each(6, 5).T
    x = values((2, 30), dtype)
    with on_host():
        want = map_.apply(x, 1)
    close(map_.apply(x.to(on), 1), want)


@pytest.mark.parametrize("dtype", some(INTEGERS, 1, str, lambda d: d in (torch.int16, torch.int64, torch.uint64)))
def test_means_at_the_ends_of_integers_and_beyond_all_fractions(dtype: torch.dtype, on: str) -> None:
    """Where a sum is no number of its dtype, and where floating numbers have no halves to round."""
    info = torch.iinfo(dtype)
    odd = [2**52 + 1, 2**53 - 1, -(2**52) - 1] if dtype.itemsize == 8 else []
    for value in [info.min, info.max, *(v for v in odd if v >= info.min)]:
        x = torch.full((1, 1, 3, 8), value, dtype=dtype, device=on)
        for size, mode in [((3, 4), "area"), ((3, 16), "bilinear")] if value not in odd else [((3, 4), "area")]:
            got = tenter.interpolate(x, size, mode=mode)
            assert got.tolist() == [[[[value] * size[1]] * 3]], mode


def layouts(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """The same values, laid out in many ways."""
    found = {"contiguous": x}
    for k, order in enumerate(itertools.permutations(range(x.ndim))):
        if k % 9 == 1:
            found[f"order{order}"] = x.permute(order).contiguous().permute([order.index(d) for d in range(x.ndim)])
    found["channels-last"] = x.contiguous(memory_format=torch.channels_last)
    room = torch.zeros([n + 3 for n in x.shape], dtype=x.dtype, device=x.device)
    inside = room[tuple(slice(1, n + 1) for n in x.shape)]
    found["a part"] = inside.copy_(x)
    found["a corner"] = room.clone()[tuple(slice(n) for n in x.shape)].copy_(x)
    steps = torch.zeros([2 * n for n in x.shape], dtype=x.dtype, device=x.device)[
        tuple([slice(None, None, 2)] * x.ndim)
    ]
    found["every second"] = steps.copy_(x)
    flat = torch.zeros(x.numel() + 3, dtype=x.dtype, device=x.device)
    found["misaligned"] = flat[3:].view(x.shape).copy_(x)
    return found


@pytest.mark.parametrize("dtype", some([torch.uint8, torch.float32, torch.float16], 3, str))
def test_layouts(dtype: torch.dtype, on: str) -> None:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("repeat_interleave", (3, 2), {}),
        ("repeat", (2, 1, 2, 3), {}),
        ("interpolate", (), {"size": (7, 13), "mode": "bilinear"}),
        ("interpolate", (), {"size": (16, 3), "mode": "bicubic", "antialias": True}),
        ("interpolate", (), {"size": (9, 9)}),
    ]
    x = values((1, 48, 6, 8) if dtype == torch.float16 else (2, 3, 6, 8), dtype)
    for op, args, kwargs in calls:
        for name, laid in layouts(x.to(on)).items():
            got = getattr(tenter, op)(laid, *args, **kwargs)
            with on_host():
                want = getattr(tenter, op)(laid.cpu(), *args, **kwargs)
            assert got.stride() == want.stride(), name
            if dtype == torch.uint8 and kwargs.get("mode") == "bilinear":
                assert (got.cpu().int() - want.int()).abs().max() <= 1
            else:
                close(got, want, scale=4)


@pytest.mark.slow
def test_one_map_along_both_axes(on: str) -> None:
    """It has tables of two kinds, and of each for every precision."""
    for dtype in (torch.float32, torch.float64, torch.float32):
        x = values((1, 1, 23, 23), dtype)
        got = tenter.interpolate(x.to(on), (71, 71), mode="bicubic")
        close(got, on_the_host("interpolate", x, (71, 71), mode="bicubic"), scale=4)


@pytest.mark.slow
def test_sheets_of_columns_that_read_more_than_is_held(on: str) -> None:
    x, how = values((1, 1, 9, 200), torch.float32), {"size": (20, 66), "mode": "bicubic", "antialias": True}
    close(tenter.interpolate(x.to(on), **how), on_the_host("interpolate", x, **how), scale=4)


def test_insides_that_do_not_lie_together(on: str) -> None:
    second = slice(None, None, 2)
    for shape, part, size in [((5, 6, 6), second, (7, 4)), ((9, 12, 6), second, (20, 40)), ((3, 1400, 4), second, (3, 2)),
                              ((4, 3, 80), second, (7, 4)), ((4, 3, 40), slice(33), (7, 4))]:  # fmt: skip
        x = values(shape, torch.float32).to(on)[..., part]
        got = tenter.resize(x, size, axes=(0, 1))
        close(got, on_the_host("resize", x, size, axes=(0, 1)), scale=4)


PARTS: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((1, 3, 4, 2, 64), (1, 2, 3), (5, 6, 3)),
    ((2, 3, 4, 2, 64), (2, 3), (6, 3)),
    ((2, 2, 3, 9, 12), (2, 3, 4), (4, 11, 66)),
]


@pytest.mark.slow
def test_wide_insides_volumes_and_parts(on: str) -> None:
    """Whole 16 bytes at a time, and sheets, along every dim that a kernel knows."""
    for shape, axes, size in PARTS:
        room = torch.zeros([n + 1 if d == 1 else n for d, n in enumerate(shape)], dtype=torch.float16, device=on)
        x = room[:, 1:].copy_(values(shape, torch.float16))
        got = tenter.resize(x, size, axes=axes)
        close(got, on_the_host("resize", x, size, axes=axes), scale=4)


@pytest.mark.parametrize(
    "n, dtype",
    sampled(
        [(96, torch.float32), (40, torch.float16), (192, torch.bfloat16), (224, torch.uint8)],
        2 if INTERPRETED else 1,
        str,
    ),
)
def test_channels_to_the_end_of_their_memory(n: int, dtype: torch.dtype, on: str) -> None:
    """Tiles of channels end where the channels end, wherever these begin: what is after them is nobody's."""
    for before in (0, 1):
        x = (
            torch.zeros(2 * 5 * n + before, dtype=dtype, device=on)[before:]
            .view(2, 5, n)
            .copy_(values((2, 5, n), dtype))
        )
        for size in (7, 3):
            got, want = (f(x, size, axes=1) for f in (tenter.resize, lambda *a, **k: on_the_host("resize", *a, **k)))
            if dtype == torch.uint8:
                assert (got.cpu().int() - want.int()).abs().max() <= 1
            else:
                close(got, want, scale=4)


def test_what_is_expanded_and_has_many_dims(on: str) -> None:
    x = values((2, 1, 3), torch.float32).to(on).expand(2, 5, 3)
    close(tenter.repeat_interleave(x, 2, 1), on_the_host("repeat_interleave", x, 2, 1), bits=True)
    x = values((2,) * 8, torch.float32).permute(7, 5, 3, 1, 6, 4, 2, 0)
    close(tenter.repeat(x.to(on), *[2] * 8), on_the_host("repeat", x, *[2] * 8), bits=True)
    close(tenter.repeat_interleave(x.to(on), 2, 3), on_the_host("repeat_interleave", x, 2, 3), bits=True)


SPECIALS = itertools.product(["bilinear", "bicubic", "area"], [float("inf"), float("nan")])


@pytest.mark.parametrize("case", some(SPECIALS, 5, str))
def test_what_is_not_finite_stays_where_it_is_read(case: tuple[str, float], on: str) -> None:
    """A neighbor's infinity must not reach an output that does not read it, on both ways of summing rows."""
    mode, special = case
    for shape, size in [((1, 1, 8, 9), (20, 11)), ((1, 1, 24, 70), (50, 70)), ((1, 1, 50, 140), (24, 70))]:
        x = values(shape, torch.float32)
        x[0, 0, shape[2] // 2, shape[3] // 2] = x[0, 0, 0, 0] = x[0, 0, -1, -1] = special
        got, want = tenter.interpolate(x.to(on), size, mode=mode), on_the_host("interpolate", x, size, mode=mode)
        assert torch.equal(got.isfinite().cpu(), want.isfinite())
        assert torch.equal(got.isnan().cpu(), want.isnan())  # an infinity is not multiplied by the weight of no tap


def test_infinities_at_the_ends_of_channels_and_signals(on: str) -> None:
    """There outputs have fewer taps than others."""
    inf = float("inf")
    x = torch.tensor([[[inf, 1.0, 2.0, 3.0, -inf]]])
    got = tenter.interpolate(x.to(on), 9, mode="linear", align_corners=True)
    assert got.tolist() == [[[inf, inf, 1.0, 1.5, 2.0, 2.5, 3.0, -inf, -inf]]]
    image = values((1, 40, 5, 4), torch.float32).to(memory_format=torch.channels_last)
    image[:, 1, 0, 0] = image[:, 2, -1, -1] = inf
    for mode in ("bilinear", "bicubic"):
        for how in ({"size": (9, 7)}, {"size": (2, 3), "antialias": True}):
            got, want = (
                f(image, mode=mode, **how)
                for f in (
                    lambda x, **k: tenter.interpolate(x.to(on), **k).cpu(),
                    lambda x, **k: on_the_host("interpolate", x, **k),
                )
            )
            assert torch.equal(got.isnan(), want.isnan()) and torch.equal(got.isinf(), want.isinf())


@pytest.mark.slow  # nearest: test_half_gradients_are_added_in_float32
def test_half_sums_are_made_in_single_precision(on: str) -> None:
    """The gradient of a constant image shrunk to nothing: 128 * 128 ones, which float16 can't count one by one."""
    x = torch.zeros(1, 1, 1, 1, dtype=torch.float16, device=on, requires_grad=True)
    tenter.interpolate(x, (128, 128), mode="bicubic").backward(
        torch.ones(1, 1, 128, 128, dtype=torch.float16, device=on)
    )
    assert x.grad is not None and x.grad.item() == 16384

"""A call's temporaries are bounded: it is made a chunk at a time if it would have more, which changes no bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import pytest
import torch
from cuda_helpers import some
from on_host import values

import tenter
from tenter._plans import cache
from tenter._triton import launch, windows
from tenter._triton.launches import Launches
from tenter._triton.passes import INPUT

pytestmark = pytest.mark.gpu


def fifth(x: torch.Tensor) -> torch.Tensor:
    """Antialiased along rows and columns, one after the other, to odd sizes."""
    size = [n // 5 | 1 for n in x.shape[-2:]]
    return tenter.interpolate(x, size, mode="bicubic", antialias=True)


def to_20_pixels(x: torch.Tensor) -> torch.Tensor:
    return tenter.interpolate(x, (4, 5), mode="bicubic", antialias=True)


def larger(x: torch.Tensor) -> torch.Tensor:
    """Its gradient sums rows and columns one after the other."""
    return tenter.interpolate(x, [5 * n + 1 for n in x.shape[-2:]], mode="bicubic")


def wrapped(x: torch.Tensor) -> torch.Tensor:
    """The inputs of each axis are copied into order, then summed."""
    return tenter.resize(x, (7, 5), axes=(-2, -1), mode="cubic", edge="wrap")


def shrunk(x: torch.Tensor) -> torch.Tensor:
    """Long windows along one axis."""
    return tenter.resize(x, 1, axes=3, mode="area")


def repeated(x: torch.Tensor) -> torch.Tensor:
    """A copy with more dims than a tile has."""
    return tenter.repeat(x, 1, 1, *[2] * 5)


def by_counts(x: torch.Tensor) -> torch.Tensor:
    counts = torch.tensor([1, 2], device=x.device)
    return tenter.repeat_interleave(x, counts, 5, output_size=3)


def scattered(x: torch.Tensor) -> torch.Tensor:
    """The same values with dims that no few strides walk."""
    room = torch.zeros([n + 1 for n in x.shape], dtype=x.dtype, device=x.device)
    return room[tuple(slice(n) for n in x.shape)].copy_(x)


def misaligned(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(x.numel() + 3, dtype=x.dtype, device=x.device)[3:].view(x.shape).copy_(x)


def permuted(x: torch.Tensor) -> torch.Tensor:
    """The same values, with the second dim slowest in memory."""
    return x.transpose(0, 1).contiguous().transpose(0, 1)


def channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last)


def contiguous(x: torch.Tensor) -> torch.Tensor:
    return x


class Case(NamedTuple):
    """share: which share of the temporaries is the limit. by_default: also run, as kernels are interpreted."""

    f: Callable[[torch.Tensor], torch.Tensor]
    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    laid: Callable[[torch.Tensor], torch.Tensor] = contiguous
    share: int = 3
    by_default: bool = False

    def name(self) -> str:
        return f"{self.f.__name__}-{self.laid.__name__}-{self.dtype}{list(self.shape)}"


CASES = [
    Case(fifth, (5, 3, 20, 18)),
    Case(larger, (5, 3, 4, 5)),
    Case(larger, (7, 3, 4, 5), laid=channels_last),
    Case(larger, (4, 5, 3, 5), laid=permuted),
    Case(fifth, (5, 3, 13, 11), torch.uint8),
    Case(fifth, (5, 3, 13, 11), torch.uint8, channels_last),
    Case(fifth, (5, 3, 13, 11), torch.uint8, misaligned, by_default=True),
    Case(larger, (5, 3, 3, 5), torch.float16),
    Case(fifth, (3, 33, 20, 18), torch.float16, channels_last, 2),
    Case(fifth, (1, 23, 13, 11), torch.uint8),
    # Four channels of a result have 80 bytes, an image has 220.
    Case(to_20_pixels, (2, 11, 12, 15), torch.uint8, share=5, by_default=True),
    Case(fifth, (2, 7, 20, 18), laid=scattered, share=5),
    Case(wrapped, (5, 2, 9, 8)),
    Case(larger, (3, 2, 3, 4), torch.complex64),
    Case(shrunk, (6, 3, 2, 260, 2), laid=scattered),
    Case(repeated, (3, 3, 2, 2, 2, 2, 3), torch.uint8, scattered),
    Case(by_counts, (3, 2, 2, 2, 2, 2, 3), torch.uint8, scattered),
    Case(by_counts, (3, 2, 2, 2, 2, 2, 3), torch.float16, scattered, by_default=True),
]


def called(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, limit: int) -> tuple[list[Any], list[Launches]]:
    """Returns the result and, of floats, the gradient; and what was launched, by plans of their own."""
    made: list[Launches] = []

    def launches(*args: Any) -> Launches:
        made.append(planned(*args))
        return made[-1]

    planned = windows.launches
    with pytest.MonkeyPatch.context() as patch, mock.patch.dict(cache.plans, clear=True):
        patch.setattr(windows, "launches", launches)
        patch.setattr(windows, "MOST_TEMPORARY", limit)
        x = x.detach().requires_grad_(x.is_floating_point() or x.is_complex())
        y = f(x)
        if not x.requires_grad:
            return [y], made
        g = values(tuple(y.shape), y.dtype, 1).to(y)
        return [y.detach(), *torch.autograd.grad(y, x, torch.empty_like(y).copy_(g))], made


def bits(x: torch.Tensor) -> torch.Tensor:
    return (torch.view_as_real(x) if x.is_complex() else x).contiguous().view(torch.uint8)


@pytest.mark.parametrize("case", some(CASES, len(CASES), Case.name, lambda case: case.by_default))
def test_chunks_change_no_bits(case: Case, on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "FEW_OUTPUTS", 50)
    x = case.laid(values(case.shape, case.dtype).to(on))
    want, at_once = called(case.f, x, 1 << 40)
    largest = max(sum(made.temporaries) for made in at_once)
    limit = largest // case.share
    got, chunked = called(case.f, x, limit)
    assert len(chunked) == len(at_once) and largest > 0 and not any(made.chunked for made in at_once)
    for made, whole in zip(chunked, at_once):
        assert sum(made.temporaries) <= limit and made.chunked == (sum(whole.temporaries) > limit)
    for a, b in zip(got, want, strict=True):
        assert a.stride() == b.stride() and torch.equal(bits(a), bits(b))


@pytest.mark.parametrize("case", CASES, ids=Case.name)
def test_addresses_of_chunks_are_aligned_as_kernels_are_told(
    case: Case, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Launches, "run", lambda *args: None)
    x = case.laid(values(case.shape, case.dtype).to(on))
    _, at_once = called(case.f, x, 1 << 40)
    _, chunked = called(case.f, x, max(sum(made.temporaries) for made in at_once) // case.share)
    for made in chunked:
        held = {id(tensor) for tables in made.tables for tensor in tables.tensors}
        for step in made.steps:
            assert {id(a) for a in step.args if isinstance(a, torch.Tensor)} <= held
            ends = (step.source, step.source_at), (step.target, step.target_at)
            for (memory, at), pointer, is_aligned in zip(ends, step.kernel.types, step.kernel.aligned):
                unit = 16 if is_aligned else launch.POINTEES[pointer].itemsize
                assert (at + (made.at if memory == INPUT else 0)) % unit == 0


def test_a_dim_with_a_map_and_an_expanded_dim_are_not_cut(on: str) -> None:
    """The chunks of a result would not be contiguous, or would make the same sums again."""
    shrinks = lambda x: tenter.resize(x, (2, 4), axes=(0, 2), mode="cubic", antialias=True)
    expanded = values((1, 1, 20, 40), torch.float32).to(on).expand(5, 1, 20, 40)
    for f, x in ((shrinks, values((4, 9, 40), torch.float32).to(on)), (fifth, expanded)):
        _, made = called(f, x, 256)
        assert made and not any(each.chunked for each in made)
        assert any(sum(each.temporaries) > 256 for each in made)


def test_calls_of_few_bytes_are_made_at_once(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Launches, "run", lambda *args: None)
    _, made = called(fifth, values((5, 3, 26, 30), torch.float32).to(on), windows.MOST_TEMPORARY)
    assert len(made) == 2 and not any(each.chunked for each in made)


def test_explain_names_a_kernel_of_all_chunks_once(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_TEMPORARY", 4096)
    x = values((5, 3, 25, 31), torch.float32).to(on)
    e = tenter.explain(tenter.interpolate, x, (5, 7), mode="bicubic", antialias=True)
    assert [line.partition(",")[0] for line in e.kernels] == ["window", "a chunk of x at a time"]

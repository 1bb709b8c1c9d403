"""Maps of PyTorch's modes, and maps applied to several axes at once, for tests below the public functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tenter._arrays.library import of
from tenter._execution import executor
from tenter._plans.plan import CallPlan, plan
from tenter._rules.axis_rule import NEAREST
from tenter._rules.rounding import ONCE
from tenter._specs.axis_maps import axis_map, settled
from tenter._specs.resize import interpolation_rules
from tenter.maps import AxisMap


def resample(
    kind: str, n_in: int, n_out: int, scale: float | None = None, align_corners: bool = False, antialias: bool = False,
    kernel: str = "direct",
) -> AxisMap:  # fmt: skip
    """One axis by a mode of `interpolate`; kernel: of PyTorch's, by the name of its arithmetic."""
    scales = None if scale is None else (scale,)
    rules = interpolation_rules(1, scales, kind, align_corners, antialias, False)
    if kind in NEAREST:
        return axis_map(rules[0]._replace(arithmetic=kernel), n_in, n_out)
    (rule,) = settled(rules, (n_in,), (n_out,), "float32", kernel.startswith("cuda"), ONCE)
    return axis_map(rule, n_in, n_out)


class Given(NamedTuple):
    """Maps by themselves, as a specification."""

    given: tuple[tuple[int, AxisMap], ...]

    def shape_out(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        after = dict(self.given)
        return tuple(after[d].n_out if d in after else n for d, n in enumerate(shape))

    def maps(self, shape: tuple[int, ...], dtype: str, on_device: bool) -> Any:
        return self.given

    def order(self, shape: tuple[int, ...], *how: Any) -> tuple[int, ...]:
        return tuple(range(len(shape)))

    def rounding_of(self, dtype: str) -> str:
        return ONCE


class Planned(NamedTuple):
    plan: CallPlan

    @property
    def steps(self) -> Any:
        return self.plan.steps

    def run(self, x: Any) -> Any:
        return executor.of(x).run(x, self.plan)


def planned(x: Any, maps: Sequence[tuple[int, AxisMap]]) -> Planned:
    """Maps for arrays that lie as x does."""
    return Planned(plan(x, Given(tuple(maps))))


def apply_maps(x: Any, maps: Sequence[tuple[int, AxisMap]]) -> Any:
    """Fresh memory with one map applied per axis, differentiable where x is."""
    x = of(x).resolve(x)
    return executor.of(x).execute(x, planned(x, maps).plan)

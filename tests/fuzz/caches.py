"""What earlier calls leave behind: plans, specializations, maps, and how often each call was made. Written so that it also runs
on other versions of tenter, whose caches may have other names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tenter import _native
from tenter._plans import cache
from tenter._rules import axis_rule
from tenter._specs import axis_maps

try:
    from tenter._plans import specializations
except ImportError:
    specializations = None


def forget_plans() -> None:
    """Plans, and how often each call was made: the next call is planned, by the core where it knows the specialization."""
    cache.plans.clear()
    cache._positions = 0
    getattr(cache, "_noted", {}).clear()
    getattr(getattr(_native, "testing", _native), "forget_calls", lambda: None)()


def forget() -> None:
    """Everything: the next call is checked and planned as the first one of a process is."""
    forget_plans()
    for name in ("specializations", "native"):
        getattr(specializations, name, {}).clear()
    for kept in (
        getattr(axis_maps, "cached_axis_map", getattr(axis_maps, "_kept", None)),
        getattr(axis_rule, "read", None),
    ):
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()  # a map knows whether its axis is long


@contextmanager
def plans_kept_at_once() -> Iterator[None]:
    """A call's plan is cached from its first time on, where otherwise the core plans the first few anew."""
    place, name = (_native.tuning, "seldom_calls") if hasattr(_native.tuning, "seldom_calls") else (cache, "SELDOM")
    usual = getattr(place, name)
    setattr(place, name, 0)
    try:
        yield
    finally:
        setattr(place, name, usual)

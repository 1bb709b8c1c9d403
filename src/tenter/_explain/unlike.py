"""The nearest wrong calls."""

from tenter._explain.facts import Facts


def unlike(facts: Facts) -> tuple[tuple[str, str], ...]:
    return ()

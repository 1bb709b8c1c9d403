"""The same call in other libraries."""

from tenter._explain.facts import Facts


def spellings(facts: Facts) -> dict[str, str]:
    return {}

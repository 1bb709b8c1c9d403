"""Signatures of the public functions: what they show is what calls take."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import tenter
from public_functions import functions

LAST = np.zeros((48, 64, 3), np.float32)
SIZE = (24, 32)


@pytest.mark.parametrize("f", [tenter.resize, tenter.image.resize])
def test_signatures_say_what_arguments_take(f):
    shown = inspect.signature(f).parameters
    words = {
        "size": "Size",
        "scale": "Numbers",
        "mode": "Filter",
        "like": "Convention",
        "box": "Box",
    }
    assert {name: word in str(shown[name].annotation) for name, word in words.items()} == dict.fromkeys(words, True)
    assert all(p.annotation != "Any" for p in shown.values())
    assert [n for n, p in shown.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == [next(iter(shown)), "size"]


def test_signatures_are_those_of_the_calls():
    """What a signature binds is a call, and what it does not is refused."""
    for name, f in functions():
        shown = inspect.signature(f)
        assert not {"too_many", "no_other"} & set(shown.parameters), name
        annotated = [p for n, p in shown.parameters.items() if n not in ("other", "no_other", "how")]
        assert all(p.annotation not in ("Any", inspect.Parameter.empty) for p in annotated), (name, annotated)
        assert "<missing>" not in str(shown) and "Ellipsis" not in str(shown), name
    for call in (
        lambda s: s.bind(LAST, SIZE, (0, 1)),
        lambda s: s.bind(LAST, SIZE, scale_factor=2),
        lambda s: s.bind(),
    ):
        with pytest.raises(TypeError):
            call(inspect.signature(tenter.resize))


def test_names_of_types_in_signatures_are_those_of_the_module_of_types() -> None:
    from tenter._arrays import signatures
    from tenter._specs import signatures as of_resize

    known: set[str] = set(vars(signatures)) | set(vars(of_resize))
    known |= {word for module in (signatures, of_resize) for word in re.findall(r"[\w.]+,?", inspect.getsource(module))}
    known |= {
        "Filter",
        "Convention",
        "Sequence",
        "NDArray",
        "np.integer",
        "Any",
        "None",
        "SupportsIndex",
        "bool",
        "float",
        "complex",
        "int",
    }
    for p in inspect.signature(tenter.resize).parameters.values():
        words = str(p.annotation).replace("[", " ").replace("]", " ").replace("|", " ").split()
        assert set(words) <= known, p

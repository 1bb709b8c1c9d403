"""What users of other libraries call by mistake, and what they get: tests/operations/wrong_calls.txt has for each public function the
likeliest mistakes of the users of each library of docs/coming-from.md, and below each call the first line of its error, or
its result where it means here what it means there.

`python tests/operations/test_wrong_calls.py` writes the answers of today below the calls. Read what changes: a person must learn from
it what to call instead.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tenter
import tenter.numpy
import tenter.torch
from tenter import conventions, filters, geometry, image, lazy, maps, ragged
from tenter.conventions import Convention, compare
from tenter.torch import transforms

Image = pytest.importorskip("PIL.Image")
FILE = Path(__file__).with_name("wrong_calls.txt")
NAMES = {
    "tenter": tenter, "image": image, "ragged": ragged, "transforms": transforms, "lazy": lazy, "conventions": conventions,
    "Convention": Convention, "compare": compare, "filters": filters, "geometry": geometry, "maps": maps,
    "torch": torch, "np": np, "Image": Image, "cv2": SimpleNamespace(INTER_CUBIC=2, INTER_AREA=3),
    "A": np.arange(12.0).reshape(3, 4), "a": np.array([10, 20]), "P": np.zeros((48, 64, 3), np.uint8),
    "V": np.zeros((8, 9, 10), np.float32), "T": torch.zeros(2, 3, 8, 9), "mask": np.zeros((6, 7), bool),
    "I": Image.new("RGB", (64, 48)),
}  # fmt: skip
#: Functions whose arguments Python or NumPy checks, in their own words.
IN_OTHER_WORDS = (
    "tenter.numpy",
    "tenter.filters, geometry, maps",
    "tenter.axis_map",
    "tenter.set_num_threads",
    "names of tenter",
)


def sections() -> dict[str, list[tuple[str, str]]]:
    """Calls and what they give, by function and library."""
    found: dict[str, list[tuple[str, str]]] = {}
    for section in FILE.read_text().split("== ")[1:]:
        head, *lines = section.strip().splitlines()
        found[head] = list(zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True))
    return found


def answer(call: str, whole: bool = False) -> str:
    """The kind of a call's error, and its first line or all; the shape of the result of a call that works."""
    try:
        made = eval(call, NAMES)
    except Exception as error:
        text = f"{type(error).__name__} {error}"
        return text if whole else text.splitlines()[0]
    return f"gives {tuple(made.shape) if hasattr(made, 'shape') else made}"


@pytest.mark.parametrize("section", sections())
def test_a_mistaken_call_gets_the_answer_of_the_table(section: str) -> None:
    if section.endswith("JAX"):
        NAMES["J"] = pytest.importorskip("jax.numpy").zeros((48, 64, 3))
    for call, expected in sections()[section]:
        assert answer(call) == expected, call


HOUSE = re.compile(r"\w+ [\w. ]+: expected [^\n]+, got [^\n]+\n  in [\w.]+\([^\n]*")


def test_errors_have_one_form_and_offer_what_there_is() -> None:
    """The argument, what was expected and the call; an argument that is offered is one of the function."""
    for section, rows in sections().items():
        function = section.partition(" |")[0]
        names = (
            set(inspect.signature(eval(function, NAMES)).parameters)
            if function in ("tenter.resize", "tenter.image.resize")
            else set()
        )
        for call, expected in rows:
            if section.endswith("JAX") or expected.startswith(("gives", "AttributeError")):
                continue
            if not function.startswith(IN_OTHER_WORDS):
                assert HOUSE.fullmatch(answer(call, whole=True)), call
            if names and (offered := re.search(r"did you mean (\w+)=", expected)):
                assert offered[1] in names, call


def test_the_table_has_ten_mistakes_of_users_of_each_library() -> None:
    from test_coming_from import SECTIONS

    known: dict[str, int] = {}
    for section, rows in sections().items():
        known[section.partition("| ")[2]] = known.get(section.partition("| ")[2], 0) + len(rows)
    assert all(known.get(library, 0) >= 10 for library in SECTIONS), known


if __name__ == "__main__":
    import jax.numpy

    NAMES["J"] = jax.numpy.zeros((48, 64, 3))
    text = ""
    for name, mistakes in sections().items():
        text += f"== {name}\n" + "".join(f"{call}\n    {answer(call)}\n" for call, _ in mistakes) + "\n"
    FILE.write_text(text)

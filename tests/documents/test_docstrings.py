"""Docstrings of public names: NumPy's format, each parameter of the signature once, in its order."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType
from typing import Any

import pytest

import tenter
from sweeps import in_one_test
from tenter._arrays.names import parameters

pytest.importorskip("torch")

MODULES = ("tenter", "tenter.image", "tenter.numpy", "tenter.conventions", "tenter.filters", "tenter.geometry",
           "tenter.maps", "tenter.memory", "tenter.ragged", "tenter.lazy", "tenter.torch",
           "tenter.torch.transforms")  # fmt: skip
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples")
# What PyTorch calls of a module, and documents.
OF_MODULES = ("forward", "extra_repr")
METHODS: set[str] = set()


def documented() -> dict[str, Any]:
    """Public functions, classes and methods, by their names."""
    found: dict[str, Any] = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) or not (inspect.isclass(thing) or inspect.isroutine(thing)):
                continue
            found[f"{module.__name__}.{name}"] = thing
            if inspect.isclass(thing):
                for kind in reversed([k for k in thing.__mro__ if k.__module__.startswith("tenter")]):
                    for member, value in vars(kind).items():
                        value = getattr(value, "__func__", value)
                        if member[0] != "_" and member not in OF_MODULES and (inspect.isfunction(value)):
                            found[f"{module.__name__}.{name}.{member}"] = value
                            METHODS.add(f"{module.__name__}.{name}.{member}")
    return found


PUBLIC = documented()


def sections(thing: Any) -> dict[str, str]:
    """The text of each section by its title; the summary and what follows it by none."""
    text = inspect.getdoc(thing) or ""
    parts = re.split(r"^([A-Z][\w ]+)\n-{3,}$", text, flags=re.M)
    assert all(len(line) == len(title) for title, line in re.findall(r"^([A-Z][\w ]+)\n(-{3,})$", text, re.M)), text
    titles = parts[1::2]
    assert len(titles) == len(set(titles)), titles
    return {"": parts[0], **dict(zip(titles, parts[2::2]))}


def explained(section: str) -> list[str]:
    """The names at the margin, which may share a line, and may have a type after a colon."""
    heads = re.findall(r"^(\S.*?)(?: : .+)?$", section.strip("\n"), re.M)
    return [name.lstrip("*") for head in heads for name in head.split(", ")]


def takes(name: str) -> list[str]:
    """The parameters of a signature, without what a method is called on."""
    thing = PUBLIC[name]
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return []
    shown = list(inspect.signature(thing).parameters.values())[1 if name in METHODS else 0 :]
    return [p.name for p in shown if p.name not in ("too_many", "no_other")]


@in_one_test("name", PUBLIC)
def test_a_docstring_has_a_summary_sections_in_order_and_an_example(name: str) -> None:
    found = sections(PUBLIC[name])
    summary = found[""].strip().split("\n\n")[0]
    assert summary.replace("Provisional: it may change before 1.0.", "").strip().endswith("."), summary
    titles = [title for title in found if title]
    assert titles == sorted(titles, key=SECTIONS.index)
    assert ">>> " in found.get("Examples", "")


@in_one_test("name", PUBLIC)
def test_each_parameter_is_explained_once_in_the_order_of_the_signature(name: str) -> None:
    found = sections(PUBLIC[name])
    title = "Attributes" if "Attributes" in found else "Parameters"
    assert explained(found.get(title, "")) == takes(name)


@in_one_test("name", PUBLIC)
def test_what_is_returned_is_said(name: str) -> None:
    thing, found = PUBLIC[name], sections(PUBLIC[name])
    if inspect.isclass(thing):
        assert "Returns" not in found
    else:
        nothing = inspect.signature(thing).return_annotation in (None, "None")
        assert ("Returns" in found) is not nothing, inspect.signature(thing).return_annotation


FUNCTIONS = [name for name in PUBLIC if name not in METHODS]


@in_one_test("name", FUNCTIONS)
def test_functions_and_classes_say_what_is_related(name: str) -> None:
    """And name what there is."""
    found = sections(PUBLIC[name])
    module = importlib.import_module(
        next(m for m in sorted(MODULES, key=len, reverse=True) if name.startswith(f"{m}."))
    )
    entries = [re.fullmatch(r"(\S+) : ((?! : ).)+", line) for line in found["See Also"].strip().split("\n")]
    assert all(entries), "one entry a line"
    for related in [entry[1] for entry in entries if entry]:
        first, *rest = related.split(".")
        there = tenter if first == "tenter" else getattr(module, first, None) or getattr(tenter, first)
        for part in rest:
            there = getattr(there, part)
        assert there is not PUBLIC[name], related


@in_one_test("name", [n for n in FUNCTIONS if takes(n)])
def test_functions_that_take_arguments_say_what_they_raise(name: str) -> None:
    if not inspect.isclass(PUBLIC[name]):
        assert re.search(r"^[\w., ]+\n    \S", sections(PUBLIC[name])["Raises"], re.M)


@pytest.mark.parametrize("function, most", [("resize", 16), ("image.resize", 13)])
def test_functions_have_few_parameters(function: str, most: int) -> None:
    module, _, name = f"tenter.{function}".rpartition(".")
    assert len(parameters(getattr(importlib.import_module(module), name))) <= most


@pytest.mark.parametrize("name", ["tenter.axis_map", "tenter.maps.Copy", "tenter.maps.Window", "tenter.maps.Gather",
                                  "tenter.geometry.Geometry", "tenter.geometry.affine", *(f"tenter.lazy.{n}" for n in tenter.lazy.__all__)])  # fmt: skip
def test_what_may_change_is_marked(name: str) -> None:
    module, _, thing = name.rpartition(".")
    doc = inspect.getdoc(getattr(importlib.import_module(module), thing)) or ""
    assert "Provisional: it may change before 1.0." in " ".join(doc.split())

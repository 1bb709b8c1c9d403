"""Arguments by name: some have more than one name. A name that a function does not have is refused, and the message
shows the call that was probably meant."""

import enum
import inspect
import opcode
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tenter._arrays import pillow_images
from tenter._arrays.arguments import MISSING, closest, describe, error
from tenter._arrays.elsewhere import ELSEWHERE, INSTEAD, edge_here
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import compiling, is_array


def take_other_names(
    function: Callable[..., Any], other: dict[str, Any], too_many: Any = None, /, **names: tuple[str, Any]
) -> tuple[Any, ...]:
    """Returns the values of arguments that have more than one name, and removes other names from `other`.

    other: what the function was given by names that its signature lacks
    too_many: a positional argument where only keywords are allowed; None for none
    names: for each other name, the argument's own name and the value given for it (MISSING, None or () for none)
    """
    values = dict(names.values())
    for word in list(other):
        if word not in names:
            hint = meant(function, word, other[word], *names, *values)
            refuse(TypeError, word, "no argument of this name", describe(other[word]) + hint)
        name = names[word][0]
        so_far = values[name]
        if so_far is not MISSING and so_far is not None and not (type(so_far) is tuple and not so_far):
            if word == name:
                refuse(TypeError, word, "it once", "it twice")
            refuse(TypeError, word, f"{word} or {name}, which are one argument", "both")
        values[name] = other.pop(word)
    if too_many is not None:
        name = by_name(function, too_many)
        refuse(TypeError, name, f"it by its name, {name}={describe(too_many)}", "it by its position")
    return tuple(values.values())


def misnamed(
    called: str, function: Callable[..., Any], other: dict[str, Any], too_many: Any, **given: Any
) -> Exception:
    """Returns the exception for wrong names given to a function whose arguments have one name each.

    called: the function's name in errors
    given: its positional arguments
    """
    try:
        take_other_names(function, other, too_many)
    except Refusal as refusal:
        if not other or compiling():  # PyTorch's compiler cannot follow the rest
            return error(refusal, called, *given.values(), too_many)
        return error(refusal, called, **as_written(function, given), **other)
    raise AssertionError


def as_written(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are not a function's defaults."""
    usual = inspect.signature(function).parameters
    return {name: v for name, v in given.items() if name not in usual or v is not usual[name].default}


def parameters(function: Callable[..., Any], *kinds: Any) -> tuple[str, ...]:
    """Returns the names of a function's arguments, of the given kinds. By default *args and **kwargs are left out."""
    shown = inspect.signature(function).parameters.values()
    usual = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(p.name for p in shown if p.kind in (kinds or usual))


#: What signatures show of arguments and results whose types depend on the call, as overloads say.
ARRAYS = {"x": "AnyArray", "out": "AnyArray | None"}
#: Arguments without a default, whose absence is an error with the call.
REQUIRED = ("x", "at", "coordinates")


def show_signature(function: Callable[..., Any], gives: str = "AnyArray") -> None:
    """Makes a signature show the arguments after `too_many` as keyword-only, and what arrays are.

    Python looks up the default of each keyword-only argument one by one, and takes positional ones at once. So
    functions that are called often have no star in their signature: `too_many` catches the first extra positional
    argument, and `no_other` catches unknown names.
    """
    signature = inspect.signature(function)
    written = signature.parameters
    shown, named = list[inspect.Parameter](), False
    for p in written.values():
        named = named or p.name == "too_many"
        if p.default is MISSING:  # required, if not by another name
            p = p.replace(default=p.empty)
        if p.name in ARRAYS and p.annotation == "Any":
            p = p.replace(annotation=ARRAYS[p.name])
        if named and p.kind is p.POSITIONAL_OR_KEYWORD:
            p = p.replace(kind=p.KEYWORD_ONLY)
        if p.name not in ("too_many", "no_other"):
            shown.append(p)
    returned = gives if signature.return_annotation == "Any" else signature.return_annotation
    signature = signature.replace(parameters=shown, return_annotation=returned)
    function.__signature__ = signature  # type: ignore[attr-defined]


def meant(function: Callable[..., Any], word: str, value: Any, *others: str) -> str:
    """Returns " (did you mean ...?)" with the argument that a word probably means, or "". others: names that the
    function's signature does not show."""
    several = [n for n in parameters(function, inspect.Parameter.VAR_POSITIONAL) if n in ("dims", "sizes")]
    names = (*others, *parameters(function), *several)
    for needs, table in INSTEAD:
        if word in table and all(name in names for name in needs):
            return f" (did you mean {table[word].format(describe(value))}?)"
    close = closest(word, names)
    found = [name for name in ELSEWHERE.get(word.lower(), ()) if name in names] or close
    if not found:
        return ""
    if word == "order" and isinstance(value, str):  # of memory, in NumPy
        return ""
    if found[0] == "out" and not is_array(value):  # a dtype, in SciPy
        return ""
    return f" (did you mean {found[0]}={_converted(word, found[0], value)}?)"


def _converted(word: str, name: str, value: Any) -> str:
    """The value of another library's argument, as the argument `name` has it."""
    if word in ("fx", "fy"):
        return "(fy, fx)"
    if word in ("channel_axis", "multichannel"):
        last = value in (-1, 2, True)
        return repr("HWC" if last else "CHW") if name == "layout" else "(0, 1)" if last else "(1, 2)"
    if name == "box":  # flat, or a part of one
        return "((begin, end), ...) in pixels"
    if name == "edge" and isinstance(value, str):
        return repr(edge_here(value))
    if name == "align" and isinstance(value, bool):
        return "'align_corners'" if value == (word == "align_corners") else "'half_pixel'"
    if word == "dsize" and isinstance(value, tuple):
        return describe(value[::-1])  # OpenCV takes (width, height)
    if name == "mode" and isinstance(value, str):  # OpenCV's and Pillow's constants are in capitals
        return repr(value.lower().removeprefix("inter_"))
    if is_array(value) or pillow_images.is_image(value) or name == "mode":  # OpenCV's and Pillow's modes are numbers
        return "..."
    return describe(value)


def unknown(module: str, name: str, hint: str) -> Exception:
    """The exception that a module's `__getattr__` raises. `from module import name` drops an AttributeError with its
    hint and raises an ImportError without one, so it gets an ImportError here."""
    asker = sys._getframe(1).f_back
    if asker is not None and asker.f_code.co_code[max(asker.f_lasti, 0)] == opcode.opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def by_name(function: Callable[..., Any], value: Any) -> str:
    """Returns the keyword-only argument that a value is probably for."""
    names = parameters(function, inspect.Parameter.KEYWORD_ONLY)
    if isinstance(value, int) and "mode" in names and ("axes" not in names or isinstance(value, enum.Enum)):  # Pillow's
        return "mode"
    if "dtype" in names and type(value).__name__ == "dtype":
        return "dtype"
    for kinds, name in (
        ((str,), "mode"),
        ((str,), "masks"),
        ((str,), "padding_side"),
        ((bool,), "antialias"),
        ((float, Fraction), "scale"),
        ((int, tuple, list), "axes"),
        ((tuple, list), "mean"),
    ):
        if isinstance(value, kinds) and name in names:
            return name
    return "out" if is_array(value) and "out" in names else names[0]

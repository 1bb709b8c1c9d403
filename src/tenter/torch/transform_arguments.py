"""The arguments of transforms, checked when a transform is made."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, SupportsFloat

import torch

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.names import as_written, take_other_names

# torchvision's words for modes and ours, and Pillow's numbers for torchvision's words.
MODES = {
    "bilinear": "linear", "bicubic": "cubic", "nearest": "nearest", "nearest-exact": "nearest-exact",
    "lanczos": "lanczos", "box": "box", "hamming": "hamming",
}  # fmt: skip
OF_PILLOW = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


class Made(NamedTuple):
    """How images are resized and converted.

    mean, std: of each channel, after scaling to 0..1
    masks: keys and positions of the parts of a sample that are masks; None if nothing is said of them
    draft: whether a JPEG may be decoded smaller
    pad, mask_pad: the values beside an image and beside a mask, where its place leaves room
    """

    mode: str
    antialias: bool
    dtype: torch.dtype | None
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None
    masks: tuple[str | int, ...] | None
    draft: bool = False
    pad: Any = 0
    mask_pad: int = 0

    def __str__(self) -> str:
        given = f"interpolation={self.mode}, antialias={self.antialias}"
        rest = {
            "dtype": self.dtype,
            "mean": self.mean,
            "std": self.std,
            "masks": self.masks,
            "draft": self.draft or None,
        }
        return ", ".join([given, *(f"{name}={value}" for name, value in rest.items() if value is not None)])


@contextmanager
def checked(
    transform: torch.nn.Module, too_many: tuple[Any, ...], other: dict[str, Any], **given: Any
) -> Iterator[None]:
    """Refusals of a transform's arguments, with its call.

    too_many: arguments by position after those that may be
    other: arguments by names that it does not have
    """
    try:
        if other or too_many:
            take_other_names(type(transform).__init__, other, *too_many[:1])
        yield
    except Refusal as refusal:
        raise error(refusal, called(transform), **as_written(type(transform).__init__, given), **other) from None


def called(transform: torch.nn.Module) -> str:
    return f"tenter.torch.transforms.{type(transform).__name__}"


def made(interpolation: Any, antialias: Any, dtype: Any, mean: Any, std: Any, masks: Any) -> Made:
    mode = getattr(interpolation, "value", interpolation)
    if type(mode) is int:
        if mode not in OF_PILLOW:
            hint = " (did you mean size=(height, width)?)"
            refuse(TypeError, "interpolation", f"one of {', '.join(MODES)}", describe(mode) + hint)
        mode = OF_PILLOW[mode]
    arguments.one_of("interpolation", mode, tuple(MODES))
    arguments.flag("antialias", antialias, optional=True)
    if dtype is not None and not isinstance(dtype, torch.dtype):
        refuse(TypeError, "dtype", "a dtype of PyTorch, such as torch.float32", describe(dtype))
    if (mean is None) != (std is None):
        refuse(ValueError, "std" if std is None else "mean", "both mean and std, or neither", "one of them")
    if mean is None:
        return Made(mode, antialias is not False, dtype, None, None, _names("masks", masks))
    if dtype is not None and not dtype.is_floating_point:
        refuse(ValueError, "dtype", "a float one with mean and std", describe(dtype))
    means, stds = _numbers("mean", mean), _numbers("std", std)
    if len(means) != len(stds):
        refuse(ValueError, "std", f"{len(means)} numbers, as mean has", str(len(stds)))
    if not all(s > 0 for s in stds):
        refuse(ValueError, "std", "numbers above 0", describe(std))
    return Made(mode, antialias is not False, dtype or torch.float32, means, stds, _names("masks", masks))


def pair(name: str, size: Any) -> tuple[int, int]:
    found = arguments.sizes(name, [size], least=1)
    if len(found) not in (1, 2):
        refuse(ValueError, name, "(height, width), or one number for both", describe(size))
    return found[0], found[-1]


def span(name: str, given: Any, most: float = math.inf) -> tuple[float, float]:
    """Two numbers. most: what the smaller one may be."""
    expected = "(least, greatest), both above 0" + (f", the least up to {most}" if most < math.inf else "")
    if type(given) is int and name == "scale":
        refuse(TypeError, name, expected, f"{given} (did you mean size=(height, width)?)")
    found = _numbers(name, given, expected)
    if len(found) != 2 or not 0 < found[0] <= min(found[1], most):
        refuse(ValueError, name, expected, describe(given))
    return found[0], found[1]


def probability(name: str, given: Any) -> float:
    if isinstance(given, (bool, str)) or not isinstance(given, SupportsFloat):
        refuse(TypeError, name, "a probability, from 0 to 1", describe(given))
    if not 0 <= float(given) <= 1:
        refuse(ValueError, name, "a probability, from 0 to 1", describe(given))
    return float(given)


def _names(name: str, given: Any) -> tuple[str | int, ...] | None:
    found = None if given is None else tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for each in found or ():
        if not isinstance(each, (str, int)) or isinstance(each, bool):
            refuse(TypeError, name, f"""keys or positions in a sample, such as {name}="mask" or 1""", describe(given))
        if isinstance(each, int) and each < 0:
            refuse(ValueError, name, "positions from 0 on", describe(given))
    return found


def _numbers(name: str, given: Any, expected: str = "numbers, one for each channel") -> tuple[float, ...]:
    try:
        found = tuple(map(float, given))
    except (TypeError, ValueError):
        refuse(TypeError, name, expected, describe(given))
    if not found or not all(map(math.isfinite, found)):
        refuse(ValueError, name, "finite numbers", describe(given))
    return found

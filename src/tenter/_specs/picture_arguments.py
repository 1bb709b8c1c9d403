"""What `tenter.image.resize` takes beside the arguments of `resize`: pixels that are a picture, alpha, labels."""

from typing import Any

from tenter._arrays.arguments import describe, flag
from tenter._arrays.errors import refuse
from tenter._arrays.library import is_array, of
from tenter._specs.lengths import channels_first

# Channels that a picture may have in front of its height.
IN_FRONT = (1, 3, 4)


def refuse_axes(named: dict[str, Any], position: Any) -> None:
    """Refuses axes by their name, or in their position in other functions."""
    if "axes" in named or isinstance(position, (list, tuple)):
        refuse(TypeError, "axes", "none, as a picture has two, or tenter.resize", repr(named.get("axes", position)))


def has_alpha(x: Any, size: Any, alpha: bool | None) -> bool:
    """Refuses arrays that are not pictures; True if the last channel is alpha."""
    if x.ndim not in (2, 3):
        refuse(ValueError, "pixels", "shape (H, W) or (H, W, C)", f"{tuple(x.shape)}")
    flag("alpha", alpha, optional=True)
    channels = x.shape[2] if x.ndim == 3 else 1
    if alpha is None and x.ndim == 3 and (channels > 4 or (channels == 2 and x.shape[0] in IN_FRONT)):
        expected = f"shape (H, W) or (H, W, C) of at most 4 channels{_meant(x, size)}"
        refuse(ValueError, "pixels", expected, f"{tuple(x.shape)}")
    if alpha and channels < 2:
        refuse(ValueError, "alpha", "False for pixels of one channel", "True")
    return bool(channels == 4) if alpha is None else bool(alpha)


def _meant(x: Any, size: Any) -> str:
    """The call that was likely meant, to be put after what is expected."""
    shown = "..." if size is None or is_array(size) else describe(size)
    if not channels_first(x.shape) and x.shape[0] not in IN_FRONT:
        return f"; for more channels call image.resize(pixels, {shown}, alpha=False)"
    turn = "permute" if of(x).PACKAGE == "torch" else "transpose"
    other = "" if size is None else f', or tenter.resize(pixels, {shown}, axes=(1, 2), like="pillow")'
    return f"; for (C, H, W) call image.resize(pixels.{turn}(1, 2, 0), {shown}){other}"


def mode(given: Any, labels: bool) -> Any:
    """The mode of a picture; of labels the one that mixes nothing."""
    flag("labels", labels)
    if labels and given not in (None, "nearest-exact"):
        refuse(ValueError, "mode", "none beside labels=True, which is mode='nearest-exact'", describe(given))
    return "nearest-exact" if labels else "linear" if given is None else given

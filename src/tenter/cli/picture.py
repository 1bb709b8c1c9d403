"""An image as it passes through the command: pixels, kind, metadata; and how its file was encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tenter.cli.kept.metadata import Metadata, turned
from tenter.cli.kept.orientation import turn_upright
from tenter.cli.refusal import Refusal

ByteOrder = Literal["<", ">"]
#: The kind of image for each number of channels. CMYK is never inferred: its file must say so.
KINDS = {1: "gray", 2: "gray+alpha", 3: "RGB", 4: "RGBA"}


@dataclass
class Picture:
    """One image, frame or page: stored pixels (H, W) or (H, W, C), their kind, the metadata.

    kind: gray, gray+alpha, RGB, RGBA, CMYK, channels (of unknown meaning), plain (an array), or palette and bilevel,
    whose pixels are picked and never mixed. palette: RGB triples, and Pillow's `transparency`. duration: in ms, of a
    frame. disposal: what becomes of a frame before the next, in GIF's numbers. size: the stored height and width; of an
    image that was decoded at a reduced scale, these before that. reduced: how many of its pixels a decoded one stands
    for, along each axis.
    """

    pixels: npt.NDArray[Any]
    kind: str
    metadata: Metadata = field(default_factory=Metadata)
    palette: tuple[bytes, Any] | None = None
    duration: float = 0
    disposal: int = 0
    size: tuple[int, int] = (0, 0)
    reduced: int = 1

    def __post_init__(self) -> None:
        if self.reduced == 1:
            self.size = (self.pixels.shape[0], self.pixels.shape[1])

    @property
    def alpha(self) -> bool:
        """Whether the last channel is alpha."""
        return self.kind in ("gray+alpha", "RGBA")


class Origin(NamedTuple):
    """What the file that was read says of all its images.

    type: as in `formats`. frames: how many images there are. kind: of several, the one in which all can be written, ""
    where nothing asks for it. plays: how often an animation plays, 0 without end.
    first_apart: whether the first image is a PNG's stand-in for its animation. tables, layers, subsampling,
    progressive: a JPEG's. lossless: a WebP's. byteorder, compressed: a TIFF's. unread: which parts of the file are not
    read."""

    type: str = ""
    frames: int = 1
    kind: str = ""
    plays: int = 0
    first_apart: bool = False
    tables: dict[int, list[int]] | None = None
    layers: int = 0
    subsampling: int = -1
    progressive: bool = False
    lossless: bool = False
    byteorder: ByteOrder = "<"
    compressed: bool = True
    unread: tuple[str, ...] = ()


def from_array(array: npt.NDArray[Any], path: str) -> Picture:
    """Make an image of an (H, W) or (H, W, C) array."""
    channels = 1 if array.ndim == 2 else array.shape[-1]
    if channels not in KINDS:
        raise Refusal(f"{path}: an image has 1 to 4 channels, got {channels} in an array of shape {array.shape}")
    return Picture(array[..., 0] if array.ndim == 3 and channels == 1 else array, KINDS[channels])


def upright(picture: Picture) -> Picture:
    """The image with its pixels turned as its orientation says, for files that have no such tag."""
    if picture.metadata.orientation == 1:
        return picture
    pixels = np.ascontiguousarray(turn_upright(picture.pixels, picture.metadata.orientation))
    return replace(picture, pixels=pixels, metadata=turned(picture.metadata, *pixels.shape[:2]))


class OtherKind(Exception):
    """An image cannot be written in the kind of those before it. kind: in which all of them can be."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"an image of kind {kind}")
        self.kind = kind


def common_kind(picture: Picture, kind: str = "gray") -> str:
    """The kind in which an image can be written together with others of a kind: without alpha if all are opaque."""
    colors = kind.startswith("RGB") or picture.kind not in ("gray", "gray+alpha", "bilevel")
    alpha = kind in ("gray+alpha", "RGBA") or _is_clear(picture)
    return ("RGB" if colors else "gray") + ({True: "A", False: "+alpha"}[colors] if alpha else "")


def of_one_kind(pictures: Iterable[Picture], kind: str) -> Iterator[Picture]:
    """Images as they come, as long as all can be written in a kind."""
    for picture in pictures:
        if (found := common_kind(picture, kind)) != kind:
            raise OtherKind(found)
        yield picture


def _is_clear(picture: Picture) -> bool:
    """Whether a part of an image is clear."""
    if picture.palette is not None:
        return picture.palette[1] is not None
    full = np.iinfo(picture.pixels.dtype).max if picture.pixels.dtype.kind in "ui" else 1
    return picture.alpha and not bool((picture.pixels[..., -1] == full).all())

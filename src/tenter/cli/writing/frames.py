"""Frames of an animation one after another, as the encoders that take them want them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from PIL import Image

A = TypeVar("A")
B = TypeVar("B")
Box = tuple[int, int, int, int]


class Rest:
    """The frames after the first, as Pillow takes an image of several: each is made when Pillow comes to it."""

    _min_frame = 0

    def __init__(self, images: Iterator[Image.Image], count: int) -> None:
        """`images`, of which there are so many."""
        self._images, self.n_frames, self._at = images, count, -1

    def seek(self, frame: int) -> None:
        """Go to the next frame."""
        if frame >= self.n_frames:
            raise EOFError
        if frame != self._at:
            self._image, self._at = next(self._images), frame

    def tell(self) -> int:
        """The number of the frame."""
        return self._at

    def __getattr__(self, name: str) -> Any:
        """What is asked of the image is the frame's."""
        return getattr(self.__dict__.get("_image"), name)


def with_next(items: Iterable[A]) -> Iterator[tuple[A, A | None]]:
    """Each item, and the one after it."""
    waiting: A | None = None
    for item in items:
        if waiting is not None:
            yield waiting, item
        waiting = item
    if waiting is not None:
        yield waiting, None


def merged(items: Iterable[A], equal: Callable[[A, A], bool], longer: Callable[[A, A], A]) -> Iterator[A]:
    """Equal items that follow each other as one, which `longer` makes of both."""
    last: A | None = None
    for item in items:
        if last is not None and equal(last, item):
            last = longer(last, item)
            continue
        if last is not None:
            yield last
        last = item
    if last is not None:
        yield last


def in_order(function: Callable[[A], B], items: Iterable[A], threads: int) -> Iterator[B]:
    """The results for all items, of which no more than there are threads are made ahead."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque[Any]()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def box_of(rows: Any, columns: Any) -> Box:
    """Left, top, right and bottom of the rows and columns that are true; one pixel if none is."""
    rows, columns = rows.nonzero()[0], columns.nonzero()[0]
    if not len(rows):
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1

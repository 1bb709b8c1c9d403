"""A progress bar with the rate, the time that is left and the memory in use, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from tenter.cli.volumes.memory import in_words, resident


class Progress:
    """made: how many bytes of the result have been written; `show` draws it."""

    def __init__(self) -> None:
        self.made = 0
        self.draw: Callable[[], object] | None = None

    def show(self) -> None:
        if self.draw is not None:
            self.draw()


def told(tell: Callable[[int, int], object]) -> Callable[[int], contextlib.AbstractContextManager[Progress]]:
    """As `progress`: instead of a bar, a function that gets the bytes that have been written, and those in all."""

    @contextlib.contextmanager
    def telling(total: int) -> Iterator[Progress]:
        shown = Progress()
        shown.draw = lambda: tell(shown.made, total)
        yield shown
        shown.show()

    return telling


@contextlib.contextmanager
def progress(total: int) -> Iterator[Progress]:
    """A bar of so many bytes on stderr if that is a terminal and rich is installed, otherwise nothing."""
    shown = Progress()
    try:
        if sys.stderr is None or not sys.stderr.isatty():
            raise ImportError
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ImportError:
        yield shown
        return
    columns = (
        BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
        TextColumn("{task.fields[memory]}"),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rate="", memory="")

        def draw() -> None:
            elapsed = bar.tasks[0].elapsed or 0
            rate = f"{in_words(shown.made / elapsed)}/s written" if elapsed > 0.2 else ""
            bar.update(task, completed=shown.made, rate=rate, memory=f"memory {in_words(resident())}")

        shown.draw = draw
        yield shown

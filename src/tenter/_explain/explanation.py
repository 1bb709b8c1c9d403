"""The result of `explain`."""

import os
from dataclasses import dataclass
from pathlib import Path

from tenter._arrays.cached import cached
from tenter._explain import figure, page, spellings, terminal, wrong_calls
from tenter._explain.facts import Facts
from tenter.maps import AxisMap


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """A call explained: its shapes, maps, memory and kernels, and how other libraries spell it.

    `print` fits it to a terminal of 80 columns; in notebooks it is a figure; `svg` and `html` write files.

    Parameters
    ----------
    facts
        What `explain` found; explanations are made by it alone.

    See Also
    --------
    explain : Makes one.

    Examples
    --------
    >>> import tenter
    >>> tenter.explain(tenter.tile, [1, 2], 2).bytes_written
    32
    """

    facts: Facts

    @property
    def shape_in(self) -> tuple[int, ...]:
        """The shape of x."""
        return self.facts.shape_in

    @property
    def shape_out(self) -> tuple[int, ...]:
        """The shape of the result."""
        return self.facts.shape_out

    @property
    def maps(self) -> tuple[tuple[int, AxisMap], ...]:
        """(axis, map) of each axis that changes, in ascending order: axis 0 if the call flattens x."""
        return self.facts.maps

    @property
    def is_view(self) -> bool:
        """Whether the result shares x's memory."""
        return self.facts.view

    @property
    def bytes_read(self) -> int:
        """Bytes of x that some output needs, each counted once; an upper bound for some maps of long axes."""
        return self.facts.reads

    @property
    def bytes_written(self) -> int:
        """Bytes of the result; 0 for a view."""
        return self.facts.writes

    @property
    def kernels(self) -> tuple[str, ...]:
        """What runs, and why, in words."""
        return self.facts.kernels

    @cached
    def spellings(self) -> dict[str, str]:
        """The same call in other libraries, by their names; in parentheses why there is none."""
        return spellings.spellings(self.facts)

    @cached
    def easily_confused(self) -> tuple[tuple[str, str], ...]:
        """Calls that are easily mistaken for this one, and what they do."""
        return wrong_calls.wrong_calls(self.facts)

    def text(self, color: bool = False) -> str:
        """The explanation in text.

        Parameters
        ----------
        color : bool, default False
            Whether cells have ANSI colors.

        Returns
        -------
        str

        Examples
        --------
        >>> import tenter
        >>> print(tenter.explain(tenter.tile, [1, 2], 2).text().splitlines()[0])
        tile(x: int64[2], 2)
        """
        return terminal.text_of(self, color)

    def __str__(self) -> str:
        """With colors where stdout is a terminal that shows them; the environment's NO_COLOR says no."""
        return terminal.encodable(self.text(terminal.wants_color()))

    __repr__ = __str__

    def svg(self, path: str | os.PathLike[str] | None = None, theme: str = "auto") -> str:
        """The figure as SVG.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        theme : {"auto", "light", "dark"}
            "auto" follows the reader's.

        Returns
        -------
        str

        Examples
        --------
        >>> import tenter
        >>> tenter.explain(tenter.tile, [1, 2], 2).svg()[:4]
        '<svg'
        """
        found = figure.figure(self.facts, theme)
        if path is not None:
            Path(path).write_text(found, encoding="utf-8")
        return found

    def html(self, path: str | os.PathLike[str] | None = None, theme: str = "auto") -> str:
        """A page of the figure, the facts and the other libraries' calls.

        Parameters
        ----------
        path : path, optional
            Where to write it.
        theme : {"auto", "light", "dark"}
            "auto" follows the reader's.

        Returns
        -------
        str

        Examples
        --------
        >>> import tenter
        >>> "<svg" in tenter.explain(tenter.tile, [1, 2], 2).html()
        True
        """
        found = page.page(self, theme)
        if path is not None:
            Path(path).write_text(found, encoding="utf-8")
        return found

    def _repr_html_(self) -> str:
        return page.fragment(self)

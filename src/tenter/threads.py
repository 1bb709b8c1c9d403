"""How many threads the kernels use."""

from tenter._arrays import thread_count
from tenter._arrays.arguments import error, integer
from tenter._arrays.errors import Refusal, refuse

__all__ = ["get_num_threads", "set_num_threads"]


def set_num_threads(n: int | None) -> None:
    """Sets how many threads a call may use.

    Parameters
    ----------
    n : int or None
        From 1 to 1024. None returns to the default: PyTorch's number if PyTorch has been imported, else
        OMP_NUM_THREADS, else the cores of this process. In a forked child the default is one, as data loaders fork one
        process per core.

    Raises
    ------
    TypeError
        If n is not an int.
    ValueError
        If n is below 1 or above 1024.

    See Also
    --------
    get_num_threads : The number of now.

    Notes
    -----
    Results are bit-identical for any number of threads.

    Examples
    --------
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(None)
    """
    try:
        chosen = None if n is None else integer("n", n, "a number of threads", 1)
        if chosen is not None and chosen > thread_count.MOST:
            refuse(ValueError, "n", f"a number of threads up to {thread_count.MOST}", str(n))
    except Refusal as refusal:
        raise error(refusal, "set_num_threads", n) from None
    thread_count.chosen = chosen


def get_num_threads() -> int:
    """How many threads a call may use now.

    Returns
    -------
    int

    See Also
    --------
    set_num_threads : Sets it.

    Examples
    --------
    >>> get_num_threads() >= 1
    True
    """
    return thread_count.thread_count()

"""What the tests' threads raise fails their test, and none is waited for longer than the limit."""

from __future__ import annotations

import threading

import pytest

from thread_helpers import in_threads


def test_what_a_thread_raises_is_raised_and_the_others_end() -> None:
    barrier, ended = threading.Barrier(3), []

    def work(k: int) -> None:
        try:
            barrier.wait()
            if k == 1:
                raise KeyError(k)
            barrier.wait()  # for the one that is gone
        finally:
            ended.append(k)

    with pytest.raises(KeyError, match="1"):
        in_threads(work, [(k,) for k in range(3)], barrier)
    assert sorted(ended) == [0, 1, 2]


def test_a_thread_that_goes_on_fails_at_the_limit() -> None:
    stop, over = threading.Event(), threading.Event()
    over.set()
    with pytest.raises(AssertionError, match=r"1 of 2 threads still run after 0\.1 s"):
        in_threads(threading.Event.wait, [(stop,), (over,)], limit=0.1)
    stop.set()

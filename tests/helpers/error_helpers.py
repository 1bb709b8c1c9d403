"""The form of every error: two lines, of which the first names the argument, and the second the call."""

from __future__ import annotations

import re

import pytest


def refused(call, argument, error, words, function=r"[\w.]+"):
    """The error of a call, in that form and with these words."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    form = rf"{argument}: expected [^\n]+, got [^\n]+\n  in {function}\([^\n]*\)"
    assert re.fullmatch(form, message), message
    assert all(w in message for w in words), message
    return caught.value

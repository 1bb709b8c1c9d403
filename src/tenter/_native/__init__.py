"""The compiled core (native/), as a module of its own below all others."""

from tenter._native._core import *  # noqa: F403

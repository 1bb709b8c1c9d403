"""The compiled core (native/): a module below all others."""

from tenter._native._core import *  # noqa: F403

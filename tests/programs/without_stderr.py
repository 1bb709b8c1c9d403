"""`tenter resize` in a process whose stderr is closed, while what looks like a C library writes to its descriptor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

os.close(2)

from tenter.cli import output, resize  # noqa: E402
from tenter.cli.main import main  # noqa: E402

write_beside = output.write_beside


def noisily(target: Any, force: bool, write: Callable[[Any], None]) -> None:
    def noisy(file: Any) -> None:
        os.write(2, b"what a C library says")
        write(file)

    write_beside(target, force, noisy)


resize.write_beside = noisily
sys.exit(main(["resize", "in.png", "out.png", "--scale", "1", "--mode", "nearest"]))

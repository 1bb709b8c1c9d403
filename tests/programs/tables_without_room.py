"""Tables of a long axis where the process may not have the memory for them: prints the errors."""

from __future__ import annotations

import numpy as np
from limited import allow

import tenter

s = tenter.lazy.resize(np.arange(1000, dtype=np.float32), 10**8)
allow(64 << 20)
for call in (lambda: s.maps[0].weight, lambda: s[::2].materialize()):
    try:
        call()
    except MemoryError as error:
        print(error)

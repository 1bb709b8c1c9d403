"""Names the calls that do not refuse a tensor whose storage was made smaller than it is, by an error of two lines.

storages.py ROWS EVERY: tensors of so many rows, shrunk in one in EVERY of the ways.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
import storage_cases

FORM = r"[\w ]+: expected a tensor whose storage holds its elements, got one whose storage is too small: \d+ bytes of \d+\n  in "


def problem(*call: object) -> str:
    try:
        return f"gave a {type(storage_cases.called(*call)).__name__}"  # type: ignore[arg-type]
    except ValueError as error:
        return "" if re.match(FORM, str(error)) else f"ValueError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


rows, every = map(int, sys.argv[1:])
for k, source in enumerate(storage_cases.sources()):
    for at, name in enumerate(storage_cases.shrinkable(source)):
        for how in storage_cases.HOW[(k + at) % every :: every]:
            if found := problem(source, rows, name, how, k % 2 == 0):
                print(f"{source} with {name} {how}: {found}", flush=True)
print("refused")

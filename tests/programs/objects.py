"""Names the calls whose arguments act while they are read, and that end in anything but a result or an error of ours.

objects.py EVERY: of the calls and their arguments one in EVERY.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
import object_cases as cases

# What the system takes back as soon as it is freed.
LARGE = 4100
every = int(sys.argv[1])
made = itertools.product(
    range(len(cases.CALLS + cases.VIEWS)), ("numpy", "torch"), cases.TYPES, cases.ACTS, (False, True)
)
for k, (call, library, kind, act, before) in enumerate(made):
    large = act == "takes memory" and before and kind == "NumPy's int" and library == "numpy" and call < 3
    if k % every and not large:
        continue
    try:
        cases.called(call, library, LARGE if large else 30, kind, act, before)
    except (TypeError, ValueError, IndexError) as error:
        if not re.match(r"\w[\w. ]*: expected [^\n]+, got [^\n]+\n  in [\w.]+\(", str(error)):
            print(call, library, kind, act, before, f"{type(error).__name__}: {error}")
    except Exception as error:
        print(call, library, kind, act, before, repr(error))
print("answered")

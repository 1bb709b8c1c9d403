"""tenter imported in subinterpreters: subinterpreters.py MAIN, what the main interpreter imports before."""

import importlib
import sys

try:
    import _interpreters as interpreters  # since Python 3.13, which answers with what was raised
except ImportError:
    import _xxsubinterpreters as interpreters

if sys.argv[1] != "nothing":
    importlib.import_module(sys.argv[1])
# With a lock of its own, and with the main interpreter's.
new = interpreters.create
shared = (lambda: new("legacy")) if sys.version_info >= (3, 13) else lambda: new(isolated=False)
for create in (new, shared, new):
    other = create()
    try:
        raised = interpreters.run_string(other, "import tenter; tenter.resize([1., 2.], 4)")
        print("imported" if raised is None else f"{raised.type.__name__}: {raised.msg}", flush=True)
    except RuntimeError as raised:
        print(raised, flush=True)
    interpreters.destroy(other)

print(importlib.import_module("tenter").resize([1.0, 2.0], 4).tolist())

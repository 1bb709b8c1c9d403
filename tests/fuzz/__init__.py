"""A differential fuzzer: random public calls of tenter against an oracle in plain NumPy.

`python -m tests.fuzz --minutes 60` from the root of the repository. Every call follows from one integer, its seed.

    seed -> draw.py       random choices of one generator
         -> operations.py, resizing.py, pictures.py, axismaps.py, operators.py, races.py, segments.py, ragged.py, ragged_rows.py,
            storages.py, objects.py, large.py, samples.py, patches.py, coordinates.py: a Call,
                          which is Python source, the arrays it names (arrays.py), and the check of its result (oracle.py,
                          matrices.py)
         -> thresholds.py where small arrays take the paths of large ones
         -> runs.py       the call, again, on other threads, from other layouts
         -> worker.py     calls in a process of their own
         -> watch.py      the parent: crashes, hangs, the report
"""

"""Results made in parts, for arrays that do not fit in memory. Each part is computed from the inputs that it
reads, and is bit-identical to that part of the full result. A part is plain data that another process can compute."""

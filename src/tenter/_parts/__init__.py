"""Results made in parts, for arrays that are not in memory as a whole. Each part is computed from the inputs that it
reads, with the bits of the whole result. A part is a plain value that another process can compute."""

"""Kernels apply maps to memory: `reference` in plain NumPy is the definition, `cpu` calls the compiled core."""

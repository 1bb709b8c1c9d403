"""Triton kernels for CUDA devices: `copy` and `window`, the same operations as in the core and the reference."""

"""Triton kernels for CUDA devices: `copy` and `window`, the operations of the reference and of the compiled core."""

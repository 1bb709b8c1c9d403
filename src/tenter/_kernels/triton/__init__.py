"""The kernels for CUDA devices, in Triton: `copy` and `window`, as in the reference and in the compiled core."""

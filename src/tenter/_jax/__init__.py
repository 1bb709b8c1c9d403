"""JAX arrays, where the standard says too little: tracers, sizes that compiled code needs in advance, gradients.
Imported only after the caller has imported jax."""

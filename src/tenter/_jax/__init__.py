"""JAX arrays, where the Array API says too little: tracers, sizes that compiled code needs in advance, gradients.
Imported only after the caller has imported jax."""

"""JAX arrays: what the standard cannot say of them (tracers, sizes that compiled code needs beforehand, gradients).
Imported only once the caller has imported jax."""

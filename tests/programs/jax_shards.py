"""Operations on arrays that are cut over four devices, eager, compiled and differentiated: the values of one device.
Those whose names are given, or all."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import tenter

X = np.random.default_rng(0).standard_normal((4, 8, 16, 4)).astype(np.float32)
OPERATIONS = {
    "resize": lambda x: tenter.resize(x, (9, 7), axes=(2, 3)),
    "antialias": lambda x: tenter.interpolate(x, (5, 3), mode="bicubic", antialias=True),
    "every": lambda x: tenter.repeat_interleave(x, 3, 1),
    "flat": lambda x: tenter.repeat_interleave(x, 2),
    "counts": lambda x: tenter.repeat_interleave(x, [1, 0, 2, 3], 0),
    "tile": lambda x: tenter.tile(x, (2, 1, 1, 2)),
    "expand": lambda x: tenter.expand(x, 2, -1, -1, -1, -1),
    "map": lambda x: tenter.axis_map(16, 5, "area").apply(x, 2),
}


def close(got: jax.Array, want: np.ndarray) -> bool:
    return got.shape == want.shape and np.allclose(np.asarray(got), want, atol=1e-5, rtol=1e-5)


def main() -> None:
    assert jax.device_count() == 4
    whole = jnp.asarray(X)
    for kind in (AxisType.Auto, AxisType.Explicit):
        mesh = jax.make_mesh((4,), ("a",), axis_types=(kind,))
        for spec in (PartitionSpec("a"), PartitionSpec(None, None, "a")):
            with jax.set_mesh(mesh):
                x = jax.device_put(X, NamedSharding(mesh, spec))
                for name in sys.argv[1:] or OPERATIONS:
                    f = OPERATIONS[name]
                    want = f(X)
                    y = jax.jit(f)(x)
                    assert close(y, want), (kind, spec, name)
                    assert sys.argv[1:] or close(f(x), want), (kind, spec, name)
                    if name in ("resize", "map") and spec == PartitionSpec("a"):  # no device gathers what it need not
                        assert y.sharding.shard_shape(y.shape)[0] == 1, (kind, name)
                    if name in ("resize", "tile", "counts") and spec[0]:
                        square = lambda x, f=f: (f(x) ** 2).sum()
                        assert close(jax.jit(jax.grad(square))(x), np.asarray(jax.grad(square)(whole))), (kind, name)
                if sys.argv[1:]:
                    continue
                counts = jnp.array([1, 0, 2, 3])
                got = jax.jit(lambda x, c: tenter.repeat_interleave(x, c, 0, output_size=6))(x, counts)
                assert close(got, X.repeat([1, 0, 2, 3], 0))


main()
print("ok")

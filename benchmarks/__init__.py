"""How long whole calls take, tenter beside its peers: `python -m benchmarks cpu`, `gpu`."""

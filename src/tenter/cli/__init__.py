"""The `tenter` command: resize pictures and arrays, and repeat rows of an array."""

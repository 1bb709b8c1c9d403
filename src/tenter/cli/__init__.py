"""The `tenter` command: resize pictures and arrays, repeat rows of an array."""

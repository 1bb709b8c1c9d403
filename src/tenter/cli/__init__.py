"""The `tenter` command: resize images and arrays, and repeat rows of an array."""

"""Arrays on disk, larger than memory: `.npy` files and zarr arrays, read and written block by block."""

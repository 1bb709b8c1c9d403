"""Dask arrays: each chunk of a result is a task that reads what it needs of the input's chunks. Imported only once the
caller has imported dask.array."""

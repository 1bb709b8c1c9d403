"""Dask arrays. Each chunk of a result is a task that reads what it needs of the input's chunks. Imported only after the
caller has imported dask.array."""

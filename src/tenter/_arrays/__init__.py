"""Facts about arrays: dtypes, layouts, limits, errors, and what each array library says of its own."""

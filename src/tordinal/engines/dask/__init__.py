"""Rows on the workers of a Dask cluster: parts, waiting, data and pseudo-labels."""

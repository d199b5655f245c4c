"""Rating the rows of a table of which a few are rated: files, columns, target, saved models."""

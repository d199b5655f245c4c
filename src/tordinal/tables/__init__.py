"""Rating the unrated rows of a table: files, columns, target, saved models."""

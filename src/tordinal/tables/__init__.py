"""From a table of which a few rows are rated to a rated table: files, columns, target, rating, saved models."""

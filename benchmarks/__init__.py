"""Benchmarks: one file a question, each printing a table with ratios to a peer in the same run."""

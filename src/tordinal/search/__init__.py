"""The search behind `TORCV`: candidates, their cross-validation, an ensemble of the best.

The stages are functions, in this order: `supervised.cross_validate`, `race.race`,
`ensemble.Comparison.ensemble` and `estimate.estimate_errors`. Each reads a `data.SearchData` and
the trials of the stages before it.
"""

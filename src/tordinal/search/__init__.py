"""The search behind `TORCV`: candidates, their cross-validation, a committee of the best."""

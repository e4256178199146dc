"""The pages over many runs: their list, and the trend of a metric."""

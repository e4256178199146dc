"""Models that run on this machine and say something of texts for metrics: found, loaded once, asked in batches."""

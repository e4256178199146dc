"""The page of two runs: what changed, by how much, and what stood behind it."""

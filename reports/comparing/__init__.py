"""What the scores of one side say against those of another: paired, and only where they can be compared."""

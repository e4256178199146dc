"""The knowledge part of a page: grid, cards of documents, coverage, gaps, blame."""

"""Grids: ways to cut and search documents, measured on the same questions."""

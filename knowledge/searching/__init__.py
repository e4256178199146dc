"""Finding passages: how documents are split, and the ways to search what came of it."""

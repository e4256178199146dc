"""Blaming: which document caused an answer, by asking again without it."""

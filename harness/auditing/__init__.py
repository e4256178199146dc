"""Auditing: whether a question set is fit to decide by."""

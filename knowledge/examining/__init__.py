"""Examining: what is wrong inside documents: duplicates, contradictions, stale versions, unreadable text."""

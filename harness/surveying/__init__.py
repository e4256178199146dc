"""Surveying: all that is asked of a set of documents, put together."""

"""Retrieval: splitting documents, indexing passages and searching them."""

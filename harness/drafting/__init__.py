"""Drafting: questions proposed from documents, and a person who accepts them."""

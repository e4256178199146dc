"""Drafting: questions made of documents by rule, for a person to accept or reject."""

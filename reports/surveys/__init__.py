"""Surveys: what a look at a set of documents and questions found, as it is kept and shown."""

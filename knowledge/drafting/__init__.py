"""Drafting: questions with their evidence, made from documents by rules."""

"""The judge that needs no language model: it decides from wording, numbers, names, dates, negation and vectors."""

"""Perturbations: questions in other words, with typing errors or a changed meaning."""

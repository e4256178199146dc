"""Perturbations."""

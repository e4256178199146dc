"""Detectors: what personal data and secrets look like, and how they are found in a text in linear time."""

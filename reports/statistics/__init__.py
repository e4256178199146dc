"""Figures with their uncertainty: arrays in, numbers out; nothing here knows a run, a store or a file."""

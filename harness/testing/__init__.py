"""Proctor inside pytest; nothing is loaded before a test uses it."""

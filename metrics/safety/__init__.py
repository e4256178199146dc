"""Safety."""

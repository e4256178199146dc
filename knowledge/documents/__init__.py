"""Documents: reading them, and what they share, repeat or replace."""

"""What happened: stored, compared, and shown."""

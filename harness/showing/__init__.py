"""What a user sees: tables, bars and JSON."""

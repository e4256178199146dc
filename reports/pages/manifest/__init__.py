"""What a run was made of, and the command that holds it again."""

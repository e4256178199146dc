"""What a run would take, worked out without asking anybody."""

"""What perturbation a question, or asking it again, does to the answers."""

"""The audit of a question set: duplicates, leaks, contradicted and suspect answers, and how few questions would do."""

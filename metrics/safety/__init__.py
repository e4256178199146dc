"""Personal data and secrets in answers and contexts: their formats, and the metrics of leaks."""

"""The figures in full: heatmap, yes-or-no checks, classification, distributions, latency, tags and documents."""

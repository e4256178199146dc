"""Cluster: the questions of a run cut into blocks, which workers on Ray ask and score with the same engine."""

"""Metrics by small models on this machine, and by a language model's likelihoods: checkers, classifiers, GPTScore."""

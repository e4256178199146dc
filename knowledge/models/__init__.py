"""Local models: finding, loading and batching encoders, rerankers, classifiers and language models."""

"""Which of several bots is best, for what, how surely, and when a bot should rather not answer."""

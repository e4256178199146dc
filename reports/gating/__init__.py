"""Whether a bot became worse: verdicts with a margin of harm, and how they are told to people and build servers."""

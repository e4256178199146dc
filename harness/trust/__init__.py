"""Whether a judge can be believed: canaries before a run, people's labels after it."""

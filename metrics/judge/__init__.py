"""What a judge is asked, as data; how a language model is asked it, and how its replies are read."""

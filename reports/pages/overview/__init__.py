"""The first part of a page: which bot is better, how sure that is, what it costs, and what is wrong."""

"""The data of a page: the rows of its bots in blocks of JSON, for a file or from a server."""

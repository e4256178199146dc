"""Viewing: the runs of a database in a browser, from a small server or from Datasette."""

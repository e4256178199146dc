"""Server: pages of a database for a browser on this machine, and Datasette over it."""

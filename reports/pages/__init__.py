"""Pages: a run, or two, as one file for a browser, drawn from the database and asking nothing of anybody."""

"""The top floor: suites, runs, gates and analyses, and the doors to them: Python, terminal, browser, pytest."""

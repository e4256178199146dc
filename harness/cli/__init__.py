"""The command line: its entry point, and a module for each command."""

import os


def program() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it without a traceback."""
    try:
        from .main import main

        main()
    except KeyboardInterrupt:
        os._exit(130)

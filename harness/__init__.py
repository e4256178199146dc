"""Harness: the commands, and the runs that they hold.

Its rooms, each of which imports only those before it: suite, engine, trust, runs, estimate, showing, commands.
"""

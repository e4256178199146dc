"""Harness: the commands, and the exams that they hold.

Its rooms, each of which imports only those before it: suite, engine, trust, exams, forecast, showing, commands.
"""

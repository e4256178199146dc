"""Exams: what a suite or a file of answers asks for, put together and held."""

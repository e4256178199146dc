"""Exams held to decide something: the gate, what caused a change, where to stop, what rewording does."""

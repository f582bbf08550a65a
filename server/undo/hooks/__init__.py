"""Finds and disarms what code left to run unasked: git hooks, login files, editors' starts."""

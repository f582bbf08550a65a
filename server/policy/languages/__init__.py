"""Reads code in Python and in the shell: which programs, files and hosts it names."""

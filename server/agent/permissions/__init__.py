"""Permissions: what code may do without a question, what is asked first, what was granted."""

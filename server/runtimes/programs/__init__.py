"""Sayso's own programs in the sandbox, for what must not be done outside of it."""

"""Runs a conversation in a terminal: keys in, text out."""

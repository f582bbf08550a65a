"""Builds the parts of a server and of one conversation from the settings."""

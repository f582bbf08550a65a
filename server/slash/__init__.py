"""Slash commands: what a person types to Sayso itself, not to the model."""

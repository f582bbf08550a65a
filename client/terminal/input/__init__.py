"""Reads what a person types and presses in a terminal."""

"""Decides which words were meant for Sayso, by what is known of how they were said."""

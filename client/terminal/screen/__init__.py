"""Draws what a person sees in a terminal: the scrollback, and the moving lines at the bottom."""

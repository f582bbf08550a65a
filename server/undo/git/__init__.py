"""Reads what git keeps in a folder from kept contents alone: no git runs, nothing is trusted."""

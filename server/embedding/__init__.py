"""Sayso from Python: `from sayso.server import Sayso`."""

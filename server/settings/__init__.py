"""Typed settings: each with its default, its unit and its reason."""

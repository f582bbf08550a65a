"""Ears and mouth: pure parts, scheduling in virtual time, real models in real processes."""

"""Hands at a screen: a process of the client looks and acts there, as far as its owner allows."""

"""Keeps code from files that run unasked and from Sayso's own places; folders by identity."""

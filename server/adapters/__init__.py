"""Translators between other protocols and Sayso's conversations; each is off until it is set."""

"""The terminal as a place to talk: keys in, text out."""

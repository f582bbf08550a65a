"""Piper: speech from text, in a process of its own."""

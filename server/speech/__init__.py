"""Ears and mouth: speech to text, text to speech, and text made fit to be spoken."""

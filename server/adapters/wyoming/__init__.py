"""Answers Home Assistant by the Wyoming protocol: speech to text, text to speech, conversation."""

"""Whisper: text from speech, in a process of its own."""

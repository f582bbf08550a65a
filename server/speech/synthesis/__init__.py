"""Text to speech: one answer, chunk by chunk, by the voice of its language."""

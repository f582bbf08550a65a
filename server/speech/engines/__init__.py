"""The engines behind the seams of recognition and synthesis."""

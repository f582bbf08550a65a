"""Speech to text, text to speech, and the normalisation of text that is to be spoken."""

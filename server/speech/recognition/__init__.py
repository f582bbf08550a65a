"""Speech to text: one utterance, its passes, its end, and when not to believe it."""

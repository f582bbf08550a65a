"""The loop that lets a language model act by writing code, on the person's say-so."""

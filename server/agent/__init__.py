"""The loop that lets a language model act by writing code that the person approves."""

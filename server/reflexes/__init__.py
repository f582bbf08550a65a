"""Reflexes: requests that need no language model, matched by templates, answered by phrases.

There are many modules because each is one step from words to an answer.
"""

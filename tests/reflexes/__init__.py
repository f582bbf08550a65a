"""Reflexes: sentences to meanings, meanings to answers, reminders in virtual time.

There are many modules because each household matter has its own.
"""

"""Reflexes: sentences to meanings, meanings to answers, reminders in virtual time."""

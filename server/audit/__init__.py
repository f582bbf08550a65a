"""Audits from the log what was done and who approved it, for people, programs and notebooks."""

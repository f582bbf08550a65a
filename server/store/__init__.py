"""The event log: conversations are resumed from it and audited by it.

Flat, because the records of each kind are one module, and the log that holds them is made of few.
"""

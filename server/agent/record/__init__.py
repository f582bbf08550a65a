"""What a conversation remembers: its journal, history, settings and outputs.

Flat, because each kind of memory is one module, with what reads it: what a model is told, what
screens show, what may be undone, what was tested.
"""

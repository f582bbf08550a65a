"""What a conversation remembers: its journal, history, settings and outputs.

Each kind of memory is a module of its own, with what reads it: what a model is told, what screens
show, what may be undone, what was tested.
"""

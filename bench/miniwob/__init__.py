"""Solves tasks of MiniWoB++ by a script that has the tools of a model and sees what a model sees:
what it knows beside that is how to read a task's sentence.

Tasks that want a password typed are left out: Sayso types none. So are those of dragging, drawing
and colours, for which the browser has no tool.
"""

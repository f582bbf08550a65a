"""What code changed, and how to take it back: the state of folders before and after each run.

Many modules, because each is one step of that alone: seeing, keeping, naming, planning, restoring.
"""

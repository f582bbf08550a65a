"""What code changed, and how to take it back: the state of folders before and after each run."""

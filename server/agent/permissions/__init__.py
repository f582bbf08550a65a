"""What code may do unasked, what is asked first, and what was granted."""

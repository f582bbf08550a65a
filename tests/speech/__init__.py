"""Recognition and synthesis: pure parts, scheduling in virtual time, real models in processes."""

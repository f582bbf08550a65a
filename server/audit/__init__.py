"""What was done, on whose say-so: read from the log, for people, programs and notebooks."""

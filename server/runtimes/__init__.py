"""Where code runs: confined, interruptible, and honest about how it ended."""

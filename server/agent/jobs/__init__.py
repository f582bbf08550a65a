"""Jobs: work that lasts, its record, its states, and how it is told."""

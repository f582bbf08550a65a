"""Who may come in, how many, how fast, and how long they may take."""

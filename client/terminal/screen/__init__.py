"""What a person sees in a terminal: what scrolls up, and what moves at the bottom."""

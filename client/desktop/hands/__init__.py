"""The process at the screen: decides over each step, and makes it."""

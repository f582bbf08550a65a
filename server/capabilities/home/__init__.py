"""The home, by Home Assistant: calm things at once, what secures the house on a yes."""

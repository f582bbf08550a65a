"""What a conversation remembers: its journal, history, settings and outputs."""

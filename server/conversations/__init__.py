"""Conversations: their registry, the driver of each, its participants, files and transcript."""

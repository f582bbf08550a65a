"""Conversations: which there are, one at work, its participants, files and transcript."""

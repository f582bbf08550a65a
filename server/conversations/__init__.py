"""Conversations: their registry, the driver of each, its participants, files and transcript.

Flat, because each module is one part of what a conversation is made of, and they have no groups.
"""

"""Listens without a key: wake word, echo, and one client for each microphone."""

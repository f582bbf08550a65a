"""Answers 01's light client by its own messages (LMC), on this machine."""

"""Microphones and loudspeakers: the seams, sound cards, files, and waiting for what went away."""

"""Chooses the microphone, the loudspeaker and the desktop's key."""

"""The turn machine's waiting times, each with its reason."""

UTTERANCE_CAP_S = 60.0
"""A press longer than this commits by itself: the release was lost, or somebody sat on the key."""

REST_OF_AUDIO_S = 2.0
"""After a release and the last frame that came, how long more may take; then what is there is the
utterance. Hands-free, how long no sound at all may come: silence is sent, too, so nothing means a
broken device."""

LINK_GRACE_S = 5.0
"""A device that vanishes in mid-sentence may come back; after this, what it said counts as said."""

RETURN_GRACE_S = 20.0
"""The same for a device that keeps what is said meanwhile: a network that changes, a lift. Half a
sentence is worse to act upon than a late one."""

SHOWN_S = 1.0
"""A question is out for so long before a yes in words counts: nobody reads it sooner, and a yes
that was meant for the one before may still be on its way."""

TAP_S = 0.15
"""A shorter press is a tap: it asks for silence, not for an answer."""

DUCK_S = 2.0
"""How long an answer is held for a voice that says no words: a cough, a laugh, a door. A word is
recognised within a second, on a busy machine within two."""

FILLER_AFTER_S = 1.2
"""Silence while work goes on, after which a few words say that it does. Shorter pauses are usual in
talk between people; after longer ones they ask "are you there?"."""

PLAYBACK_STALL_S = 10.0
"""A device that plays nothing for so long has lost its loudspeaker; the speech is given up."""

ACK_EVERY_S = 0.2
"""Audio is acknowledged this often: the client keeps little, the wire carries few messages."""

LARGEST_GAP_S = 1.0
"""A longer hole in the audio is not filled with silence; the utterance ends before it."""

AHEAD_S = 0.3
"""Sound sent ahead of what was played: covers a home network's jitter, leaves little to flush."""

FAR_AHEAD_S = 0.8
"""The most of it, for a device on a line that delays by chance, as mobile ones do."""

FRAME_S = 0.04
"""Length of a frame of speech on its way down: few frames, and little waits for a whole one."""

WAITING_REQUESTS = 8
"""Requests of other devices that may wait while one is worked on; more are refused, aloud."""

WAITING_ANNOUNCEMENTS = 32
"""Reminders that may wait for a gap, or for a device; beyond, the oldest stay on the screen only.
Nobody sets so many for one minute."""

SPEAKS_ON_S = 8.0
"""So long after somebody fell silent, what they say next can be the rest of it, if nothing was
answered yet. What comes later is said about it, or instead."""

"""Assembles one incoming utterance: orders its audio, and knows when it is complete.

Time in an utterance is counted in received samples. Frames may come in bursts, twice (after a cut
of the link they are sent again) or with holes; they may still come after the release:

    press            release (samples = n)
      |--- frames ---|-- last frames --| n samples are here: whole
                     |------- REST_OF_AUDIO_S -------| or else: whole with what is there

Hands-free, the first frames are older than the opening, and somebody else finds the end:

    pre-roll   opening    voice began          voice ended
       |---------|-----------|-----------------|---------------| whole
                 |-- frames, at least one every REST_OF_AUDIO_S --|
"""

from typing import Literal

from sayso.server.turn.events import ListenStarted

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

ACK_EVERY_S = 0.2
"""Audio is acknowledged this often: the client keeps little, the wire carries few messages."""

LARGEST_GAP_S = 1.0
"""A longer hole in the audio is not filled with silence; the utterance ends before it."""

RATE = 16_000
BYTES_PER_SAMPLE = 2
CAP_SAMPLES = int(UTTERANCE_CAP_S * RATE)


class Utterance:
    """What one device says from the opening of its microphone to the end."""

    def __init__(self, number: int, opened: ListenStarted, now: float) -> None:
        self.number = number
        self.device = opened.device
        self.stream = opened.stream
        self.hands_free = opened.mode == "hands_free"
        self.question = opened.question
        """What its device says was on the screen when the words began."""
        self.addressed = opened.addressed
        """Whether the wake word was said before it; None: its device does not tell."""
        self.files = opened.files
        """Names of files that were sent along."""
        self.samples = 0
        """Samples here without a hole, from the first."""
        self.state: Literal["listening", "waiting_for_rest", "committed"] = "listening"
        self.began_at = now - opened.pre_roll / RATE
        """When the person began to speak, or the earliest time at which they may have begun."""
        self.released_at: float | None = None
        self.over_speech = False
        """It began while Sayso was speaking: no yes to a question that was not heard out."""
        self.over_question = False
        """It began while Sayso was asking something: perhaps it is the answer."""
        self._first_sample_at = self.began_at
        self._voice = not self.hands_free
        self._cap_at = now + UTTERANCE_CAP_S
        self.deadline = self._cap_at
        self._expect_sound(now)
        self._announced: int | None = None
        self._acknowledged = 0
        self._broken = False

    @property
    def is_spoken(self) -> bool:
        """Somebody presses the key, or was heard to speak, and has not ended."""
        return self._voice and self.state == "listening"

    @property
    def is_aside(self) -> bool:
        """It was said without a key while Sayso spoke: perhaps it asks for nothing."""
        return self.hands_free and self.over_speech

    @property
    def has_voice(self) -> bool:
        """It may hold words."""
        return self._voice

    def voice_began(self, sample: int) -> None:
        """Hands-free: somebody speaks."""
        self._voice = True
        self.began_at = self._first_sample_at + sample / RATE

    def take(self, first_sample: int, pcm: bytes, now: float) -> bytes:
        """Put a frame in its place; returns what it adds to the end of the audio."""
        if self.state == "committed" or self._broken:
            return b""
        if self.state == "listening":
            self.deadline = self._cap_at
            self._expect_sound(now)
        pcm = pcm[: len(pcm) - len(pcm) % BYTES_PER_SAMPLE]
        missing = first_sample - self.samples
        if missing > LARGEST_GAP_S * RATE:
            self._broken = True
            return b""
        if missing >= 0:
            addition = bytes(missing * BYTES_PER_SAMPLE) + pcm
        else:
            addition = pcm[-missing * BYTES_PER_SAMPLE :]
        addition = addition[: (self._end - self.samples) * BYTES_PER_SAMPLE]
        self.samples += len(addition) // BYTES_PER_SAMPLE
        return addition

    def _expect_sound(self, now: float) -> None:
        if self.hands_free:
            self.deadline = min(self._cap_at, now + REST_OF_AUDIO_S)

    @property
    def _end(self) -> int:
        return CAP_SAMPLES if self._announced is None else min(self._announced, CAP_SAMPLES)

    @property
    def is_whole(self) -> bool:
        return self._broken or self.samples >= self._end

    def release(self, samples: int, now: float) -> None:
        """The key is up; `samples` is what the client has sent in all."""
        self.state = "waiting_for_rest"
        self._voice = True
        self._announced = samples
        self.released_at = now
        self.deadline = now + REST_OF_AUDIO_S

    def sound_came(self, now: float) -> None:
        """The device still sends: after a cut, what it kept of several utterances comes in turn."""
        if self.state == "waiting_for_rest":
            self.deadline = max(self.deadline, now + REST_OF_AUDIO_S)

    def lose_link(self, now: float, *, may_return: bool) -> None:
        """The device is gone; it may come back."""
        if may_return:
            self.deadline = now + RETURN_GRACE_S
            return
        latest = self._cap_at if self.state == "listening" else self.deadline
        self.deadline = min(latest, now + LINK_GRACE_S)

    def regain_link(self, now: float) -> None:
        """The device is back: what it kept of the audio comes now."""
        self.deadline = now + REST_OF_AUDIO_S
        if self.state == "listening" and not self.hands_free:
            self.deadline = max(self.deadline, self._cap_at)

    def commit(self, now: float) -> None:
        """Nothing more is taken."""
        self.state = "committed"
        self.deadline = float("inf")
        if self.released_at is None:
            self.released_at = now

    def acknowledgement(self) -> int | None:
        """How many samples to acknowledge now, if it is time to."""
        fresh = self.samples - self._acknowledged
        if fresh >= ACK_EVERY_S * RATE or (fresh and self.is_whole):
            self._acknowledged = self.samples
            return self.samples
        return None

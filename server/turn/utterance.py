"""One utterance on its way in: its audio put in order, and the knowledge of when it is whole.

Time in an utterance is counted in received samples. Frames may come in bursts, twice (after a cut
of the link they are sent again) or with holes; they may still come after the release:

    press            release (samples = n)
      |--- frames ---|-- last frames --| n samples are here: whole
                     |------- REST_OF_AUDIO_S -------| or else: whole with what is there
"""

from typing import Literal

from sayso.server.turn.timing import (
    ACK_EVERY_S,
    LARGEST_GAP_S,
    LINK_GRACE_S,
    REST_OF_AUDIO_S,
    UTTERANCE_CAP_S,
)

RATE = 16_000
BYTES_PER_SAMPLE = 2
CAP_SAMPLES = int(UTTERANCE_CAP_S * RATE)


class Utterance:
    """What one device says between a press and a release."""

    def __init__(
        self, number: int, device: str, stream: int, now: float, *, over_speech: bool = False
    ) -> None:
        self.number = number
        self.over_speech = over_speech
        """It began while Sayso was speaking: no yes to a question that was not heard out."""
        self.device = device
        self.stream = stream
        self.samples = 0
        """Samples here without a hole, from the first."""
        self.state: Literal["listening", "waiting_for_rest", "committed"] = "listening"
        self.released_at: float | None = None
        self.deadline = now + UTTERANCE_CAP_S
        self._announced: int | None = None
        self._acknowledged = 0
        self._broken = False

    def take(self, first_sample: int, pcm: bytes) -> bytes:
        """Put a frame in its place; returns what it adds to the end of the audio."""
        if self.state == "committed" or self._broken:
            return b""
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

    @property
    def _end(self) -> int:
        return CAP_SAMPLES if self._announced is None else min(self._announced, CAP_SAMPLES)

    @property
    def is_whole(self) -> bool:
        return self._broken or self.samples >= self._end

    def release(self, samples: int, now: float) -> None:
        """The key is up; `samples` is what the client has sent in all."""
        self.state = "waiting_for_rest"
        self._announced = samples
        self.released_at = now
        self.deadline = now + REST_OF_AUDIO_S

    def lose_link(self, now: float) -> None:
        """The device is gone; it may come back."""
        self.deadline = min(self.deadline, now + LINK_GRACE_S)

    def regain_link(self, now: float) -> None:
        """The device is back: what it kept of the audio comes now."""
        rest = REST_OF_AUDIO_S if self.state == "waiting_for_rest" else UTTERANCE_CAP_S
        self.deadline = now + rest

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

"""The capture region: tracks the utterances that all devices are sending.

    idle -> listening -> committed -> idle

A person may speak while another one's words, or their own, are still being worked out.
"""

from collections.abc import Callable
from typing import Literal

from sayso.protocol.messages import AudioAck, ListenEnd
from sayso.server.turn import events
from sayso.server.turn.effects import Feed, Finish, Forget, Listen
from sayso.server.turn.regions.shared_state import SharedState
from sayso.server.turn.utterance import RATE, Utterance

TAP_S = 0.15
"""A shorter press is a tap: it asks for silence, not for an answer."""


class CaptureRegion:
    """Opens utterances, and knows when they are whole."""

    def __init__(self, shared: SharedState, nothing_said: Callable[[Utterance], None]) -> None:
        self._shared = shared
        self._nothing_said = nothing_said
        """Told of each utterance that ends without words."""
        self._utterances: dict[int, Utterance] = {}
        self._count = 0

    # --- what is known of them ---

    @property
    def state(self) -> Literal["idle", "listening", "committed"]:
        if any(u.state == "listening" for u in self._utterances.values()):
            return "listening"
        return "committed" if self._utterances else "idle"

    @property
    def deadline(self) -> float:
        return min((u.deadline for u in self._utterances.values()), default=float("inf"))

    @property
    def somebody_speaks(self) -> bool:
        """Words are being said or worked out. An open microphone alone says nothing."""
        return any(u.has_voice for u in self._utterances.values())

    def is_speaking(self, device: str) -> bool:
        """The device's person presses the key, or is heard to speak."""
        return any(u.device == device and u.is_spoken for u in self._utterances.values())

    def is_pressed(self, device: str | None) -> bool:
        """The device's person holds the key."""
        mine = (u for u in self._utterances.values() if u.device == device)
        return any(u.is_spoken and not u.hands_free for u in mine)

    @property
    def is_anybody_speaking(self) -> bool:
        """Some person does so at any device."""
        return any(u.is_spoken for u in self._utterances.values())

    def get(self, number: int) -> Utterance | None:
        return self._utterances.get(number)

    # --- from the device ---

    def open(self, event: events.ListenStarted) -> Utterance:
        """A device begins to listen. What it has not released before ends here."""
        for utterance in list(self._utterances.values()):
            if utterance.device == event.device and utterance.state == "listening":
                self._end(utterance)
        self._count += 1
        utterance = Utterance(self._count, event, self._shared.now)
        self._utterances[utterance.number] = utterance
        listen = Listen(utterance.number, event.device, event.mode, event.wait_ms, event.addressed)
        self._shared.do(listen)
        return utterance

    def take(self, event: events.AudioHeard) -> None:
        if utterance := self._find(event.device, event.stream):
            if pcm := utterance.take(event.first_sample, event.pcm, self._shared.now):
                self._shared.do(Feed(utterance.number, pcm))
            self._advance(utterance)
            for other in self._utterances.values():
                if other.device == event.device:
                    other.sound_came(self._shared.now)

    def release(self, event: events.ListenStopped) -> None:
        if utterance := self._find(event.device, event.stream):
            if event.samples < TAP_S * RATE:
                self._drop(utterance)
            else:
                utterance.files += event.files
                utterance.release(event.samples, self._shared.now)
                self._advance(utterance)

    def cancel(self, event: events.ListenCancelled) -> None:
        if utterance := self._find(event.device, event.stream):
            self._drop(utterance)

    def lose_link(self, event: events.Left) -> None:
        """The device is gone; what it was saying waits a while for its return."""
        for utterance in self._utterances.values():
            if utterance.device == event.device and utterance.state != "committed":
                utterance.lose_link(self._shared.now, may_return=event.may_return)

    def regain_link(self, device: str) -> None:
        """The device is back, and goes on with what it was saying."""
        for utterance in self._utterances.values():
            if utterance.device == device and utterance.state != "committed":
                utterance.regain_link(self._shared.now)

    # --- from those who listen ---

    def voice_ended(self, event: events.VoiceEnded) -> None:
        """Hands-free: the person has finished, or nobody spoke."""
        utterance = self.get(event.utterance)
        if utterance and utterance.state == "listening":
            self._end(utterance, event.reason)

    def close(self, number: int) -> Utterance | None:
        """What was said is known, or can't be."""
        return self._utterances.pop(number, None)

    def look_at_the_clock(self) -> None:
        """End the utterances that have waited long enough."""
        for utterance in list(self._utterances.values()):
            if utterance.deadline <= self._shared.now:
                self._end(utterance)

    # --- within ---

    def _find(self, device: str, stream: int) -> Utterance | None:
        """The utterance that still takes audio of this stream."""
        for utterance in self._utterances.values():
            mine = (utterance.device, utterance.stream) == (device, stream)
            if mine and utterance.state != "committed":
                return utterance
        return None

    def _advance(self, utterance: Utterance) -> None:
        samples = utterance.acknowledgement()
        if samples is not None:
            self._shared.tell(AudioAck(utterance.stream, samples), utterance.device)
        if utterance.is_whole:
            self._end(utterance)

    def _end(self, utterance: Utterance, reason: Literal["ended", "timeout"] | None = None) -> None:
        """It goes no further: commit it, or forget it if it can hold no words."""
        reason = reason or ("ended" if utterance.has_voice else "timeout")
        if utterance.hands_free and utterance.state == "listening":
            end = ListenEnd(utterance.stream, utterance.samples, reason)
            self._shared.tell(end, utterance.device)
        if reason == "timeout":
            self._drop(utterance)
        else:
            utterance.commit(self._shared.now)
            self._shared.do(Finish(utterance.number))

    def _drop(self, utterance: Utterance) -> None:
        self.close(utterance.number)
        self._shared.do(Forget(utterance.number))
        self._nothing_said(utterance)

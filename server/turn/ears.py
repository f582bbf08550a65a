"""The ears' region: the utterances that are on their way in, of all devices."""

from typing import Literal

from sayso.server.turn.utterance import Utterance


class Ears:
    """Keeps the open utterances; a person may speak while another one's words are worked out."""

    def __init__(self) -> None:
        self._utterances: dict[int, Utterance] = {}
        self._count = 0

    def open(self, device: str, stream: int, now: float, *, over_speech: bool) -> Utterance:
        """A device begins to speak."""
        self._count += 1
        utterance = Utterance(self._count, device, stream, now, over_speech=over_speech)
        self._utterances[utterance.number] = utterance
        return utterance

    def get(self, number: int) -> Utterance | None:
        return self._utterances.get(number)

    def close(self, number: int) -> Utterance | None:
        """What was said is known, or no longer wanted."""
        return self._utterances.pop(number, None)

    def find(self, device: str, stream: int) -> Utterance | None:
        """The utterance that still takes audio of this stream."""
        for utterance in self._utterances.values():
            mine = (utterance.device, utterance.stream) == (device, stream)
            if mine and utterance.state != "committed":
                return utterance
        return None

    def listening_to(self, device: str) -> list[Utterance]:
        """The utterances of a device that were not released yet."""
        mine = [u for u in self._utterances.values() if u.device == device]
        return [u for u in mine if u.state == "listening"]

    def lose_link(self, device: str, now: float) -> None:
        """The device is gone; what it was saying waits a while for its return."""
        for utterance in self._utterances.values():
            if utterance.device == device and utterance.state != "committed":
                utterance.lose_link(now)

    def regain_link(self, device: str, now: float) -> None:
        """The device is back, and goes on with what it was saying."""
        for utterance in self._utterances.values():
            if utterance.device == device and utterance.state != "committed":
                utterance.regain_link(now)

    def overdue(self, now: float) -> list[Utterance]:
        """The utterances that have waited long enough."""
        return [u for u in self._utterances.values() if u.deadline <= now]

    @property
    def deadline(self) -> float:
        return min((u.deadline for u in self._utterances.values()), default=float("inf"))

    @property
    def state(self) -> Literal["idle", "listening", "committed"]:
        if any(u.state == "listening" for u in self._utterances.values()):
            return "listening"
        return "committed" if self._utterances else "idle"

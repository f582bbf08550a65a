"""What the one light shows. Pure: what happens in, a state out; and how each state looks.

The states and colours are those of `docs/firmware.md`, so that a household learns them once. A
light of one colour tells them apart by their pattern alone.
"""

from dataclasses import dataclass
from typing import Literal

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import HandsFree, MicPressed, MicReleased, Seen
from sayso.protocol.codec import Envelope, Unknown
from sayso.protocol.messages import ApprovalDone, ApprovalRequest, Error, Message, TurnState

State = Literal[
    "starting",
    "unpaired",
    "connecting",
    "deaf",
    "muted",
    "ready",
    "listening",
    "thinking",
    "asking",
    "speaking",
    "trouble",
]


@dataclass(frozen=True, slots=True)
class Look:
    """How a state looks."""

    colour: tuple[float, float, float]
    """Red, green, blue, of 1 each; for lights that have them."""
    motion: Literal["steady", "blinks", "breathes"] = "steady"
    on_s: float = 0.5
    """With blinks: how long it is lit; with breathes: how long it rises, and falls."""
    off_s: float = 0.5
    """With blinks: how long it is dark."""
    brightness: float = 1.0
    """Of a light that has one colour."""


LOOKS: dict[State, Look] = {
    "starting": Look((1, 1, 1)),
    "unpaired": Look((0, 0, 1), "blinks", on_s=0.9, off_s=0.1),
    "connecting": Look((1, 0.5, 0), "blinks", on_s=0.1, off_s=0.9),
    "deaf": Look((1, 0, 0), "blinks", on_s=0.1, off_s=0.1),
    "muted": Look((1, 0, 0), brightness=0.05),
    "ready": Look((0, 0, 0), brightness=0),
    "listening": Look((0, 0, 1)),
    "thinking": Look((0.5, 0, 1), "breathes", on_s=1.0),
    "asking": Look((1, 1, 0), "blinks", on_s=0.25, off_s=0.25),
    "speaking": Look((0, 1, 0), brightness=0.3),
    "trouble": Look((1, 0, 0), "blinks", on_s=0.1, off_s=0.3),
}
"""Colours and patterns; the document for people holds the same table."""


class Signs:
    """Takes what happens, and knows what the light should tell."""

    def __init__(self) -> None:
        self._line: State | None = "starting"
        """Why nothing can be asked now."""
        self._deaf = False
        self._muted = False
        self._listening = False
        self._asked: set[str] = set()
        self._turn = TurnState("idle", "idle", "silent")
        self._trouble = False

    @property
    def state(self) -> State:
        signs: tuple[tuple[object, State | None], ...] = (
            (self._listening, "listening"),
            (self._line, self._line),
            (self._deaf, "deaf"),
            (self._muted, "muted"),
            (self._asked, "asking"),
            (self._turn.mouth != "silent", "speaking"),
            (self._turn.work != "idle" or self._turn.ears == "committed", "thinking"),
            (self._trouble, "trouble"),
        )
        return next((state for is_so, state in signs if is_so and state), "ready")

    def take(self, seen: Seen) -> None:
        match seen:
            case LinkChange():
                self._link(seen)
            case DeviceChange(part="microphone", state=state):
                self._deaf = state == "lost"
            case HandsFree(state=state):
                self._muted = state == "muted"
            case MicPressed():
                self._listening, self._trouble = True, False
            case MicReleased():
                self._listening = False
            case Envelope(message=message):
                self._message(message)
            case _:
                pass

    def _message(self, message: Message | Unknown) -> None:
        match message:
            case ApprovalRequest(id=number):
                self._asked.add(number)
            case ApprovalDone(id=number):
                self._asked.discard(number)
            case Error():
                self._trouble = True
            case TurnState() as turn:
                self._turn = turn
                if turn.work == "idle":
                    self._asked.clear()
            case _:
                pass

    def _link(self, change: LinkChange) -> None:
        match change.state:
            case LinkState.UP:
                self._line = None
                if change.session != "resumed":
                    self._turn = TurnState("idle", "idle", "silent")
                    self._asked.clear()
            case LinkState.REFUSED:
                self._line = "unpaired"
            case LinkState.WAITING:
                self._line = "connecting"
            case _:
                pass

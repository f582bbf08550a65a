"""The answer of a device, as it comes in: one result, and the bytes of its pictures. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sayso.protocol.frames import PictureFrame
from sayso.protocol.messages import ActResult

MOST_PICTURE_BYTES: Final = 8 * 2**20
"""Of all pictures of one answer: a screen of 4K as PNG, with room; no device fills the memory."""
MOST_PICTURES: Final = 8
"""In one answer: a screen each for most desks."""
MOST_PROBLEM_CHARS: Final = 500
"""Of a device's sentence; more is no sentence."""

TOO_MUCH: Final = "The device sent more pictures than an answer may hold."
NOT_AS_SAID: Final = "The device sent other pictures than it said."


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture that a device sent."""

    mime: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request. Data, problem and pictures of a device's are words of strangers: what
    is on a screen may have been put there by anybody."""

    effect: Literal["confirmed", "unconfirmed", "refused"]
    """`confirmed`: it was done. `unconfirmed`: perhaps it was; it is never asked again by itself.
    `refused`: nothing was done."""
    data: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    pictures: tuple[Shown, ...] = ()


class Answer:
    """Collects an answer. Its first result counts, and pictures only in their order."""

    def __init__(self) -> None:
        self._result: ActResult | None = None
        self._received = bytearray()
        self.outcome: Outcome | None = None
        """Once it is whole, or can't become so."""

    def take_result(self, result: ActResult) -> None:
        """The device says what came of it. Its pictures may still be on their way."""
        if self._result or self.outcome:
            return
        self._result = result
        announced = sum(picture.size for picture in result.pictures)
        if announced > MOST_PICTURE_BYTES or len(result.pictures) > MOST_PICTURES:
            self._fail(TOO_MUCH)
        self._finish()

    def take_picture(self, piece: PictureFrame) -> None:
        """A piece of the pictures. What does not go on where the last ended is dropped."""
        if self.outcome or piece.offset != len(self._received):
            return
        if len(self._received) + len(piece.payload) > MOST_PICTURE_BYTES:
            self._fail(TOO_MUCH)
            return
        self._received += piece.payload
        self._finish()

    def _finish(self) -> None:
        result = self._result
        if result is None or self.outcome:
            return
        announced = sum(picture.size for picture in result.pictures)
        if len(self._received) > announced:
            self._fail(NOT_AS_SAID)
        elif len(self._received) == announced:
            shown, at = [], 0
            for picture in result.pictures:
                content = bytes(self._received[at : at + picture.size])
                shown.append(Shown(picture.mime, content))
                at += picture.size
            problem = result.problem[:MOST_PROBLEM_CHARS]
            self.outcome = Outcome(result.effect, result.data, problem, tuple(shown))

    def _fail(self, problem: str) -> None:
        """Whatever the device did, this is no proof of it."""
        self._received.clear()
        self.outcome = Outcome("unconfirmed", problem=problem)

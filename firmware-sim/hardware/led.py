"""The one light: what each state looks like.

state         colour   way      what it tells
------------  -------  -------  -----------------------------------------------
starting      white    steady   it has power
portal        blue     blinks   join the network that it made, and set it up
connecting    amber    blinks   no line to the server; what you say is kept
ready         off      steady   press to talk
listening     blue     steady   it hears you
overflowing   red      blinks   no line for too long: the end was not kept
thinking      violet   breathes the server works on it
asking        yellow   blinks   say yes or no
speaking      green    steady   it answers
trouble       red      steady   something failed, or it may not come in; press to try again
"""

from dataclasses import dataclass
from typing import Literal

State = Literal[
    "starting",
    "portal",
    "connecting",
    "ready",
    "listening",
    "overflowing",
    "thinking",
    "asking",
    "speaking",
    "trouble",
]


@dataclass(frozen=True, slots=True)
class Light:
    """A colour, and how it is shown."""

    name: str
    red: int
    green: int
    blue: int
    way: Literal["steady", "blinks", "breathes"] = "steady"


LIGHTS: dict[State, Light] = {
    "starting": Light("white", 40, 40, 40),
    "portal": Light("blue", 0, 0, 80, "blinks"),
    "connecting": Light("amber", 80, 40, 0, "blinks"),
    "ready": Light("off", 0, 0, 0),
    "listening": Light("blue", 0, 0, 80),
    "overflowing": Light("red", 80, 0, 0, "blinks"),
    "thinking": Light("violet", 50, 0, 80, "breathes"),
    "asking": Light("yellow", 80, 80, 0, "blinks"),
    "speaking": Light("green", 0, 80, 0),
    "trouble": Light("red", 80, 0, 0),
}

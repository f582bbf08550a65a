"""Parses the faults that are injected into a device: `drop@2.5s,stall@4s,reboot@6s`.

drop      the radio loses the line, without a goodbye
stall     the main loop hangs; the watchdog must notice
reboot    the power fails for a moment: memory is lost, flash is not
hold      the power fails, and somebody holds the button from when it is back: factory-fresh
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

Kind = Literal["drop", "stall", "reboot", "hold"]

_FAULT = re.compile(r"(drop|stall|reboot|hold)@(\d+(?:\.\d+)?)s")

MOST_FAULTS = 1_000
"""In one run; more is a typing error."""


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    at: float
    """Seconds after power on."""


class WrongFault(ValueError):
    """The text is no list of faults; says what one looks like."""


def parse(text: str) -> tuple[Fault, ...]:
    """Read a list of faults, in the order of time."""
    faults = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _FAULT.fullmatch(part)
        if match is None:
            raise WrongFault(
                f"{part!r} is no fault; write drop@2.5s, stall@4s, reboot@6s or hold@2s."
            )
        faults.append(Fault(cast(Kind, match[1]), float(match[2])))
    if len(faults) > MOST_FAULTS:
        raise WrongFault(f"More than {MOST_FAULTS} faults; leave some out.")
    return tuple(sorted(faults, key=lambda fault: fault.at))

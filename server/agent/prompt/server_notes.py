"""Writes the server's own notes to a model, and keeps them apart from untrusted text. Pure.

Whatever code can write (output, how a run ended, a file's name) stands between marks, and says
nothing in the server's name. So what is told is made of two kinds of text and no others: sentences
that stand in here and in profiles, and text between marks, in which nothing looks like a mark.
"""

import re
from collections.abc import Mapping
from typing import Final

from sayso.protocol.visible import WITHOUT_LOOKS

_UNSEEN: Final = rf"[\s\ufe0f\u200d{WITHOUT_LOOKS}]"
_MARK: Final = re.compile(
    rf"[<\ufe64\uff1c](?={_UNSEEN}*+/?{_UNSEEN}*+{f'{_UNSEEN}*+'.join('output')}{_UNSEEN}++"
    r"\w{1,64}(?!\w|\s*=))",
    re.IGNORECASE,
)
"""The beginning of what a model may take for a mark, of any name, whatever invisible stands in it.
HTML's own `<output name="a">` is none."""

_NEARLY: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"


def between_marks(name: str, text: str) -> str:
    """Text that is not the server's, so that a model sees where it ends."""
    return f"<output {name}>\n{_MARK.sub(_NEARLY, text)}\n</output {name}>"


SAID_NO: Final = "The person said no: it did not run."
SAID_NOTHING: Final = "The person did not answer, which means no: it did not run."
TOO_LONG: Final = (
    "It is too long to be shown to the person whole, so nobody was asked, and nothing came of it: "
    "do it in several shorter pieces, or write what is long into files first, piece by piece."
)
NOT_OPENED: Final = (
    "The person said no: nothing more was opened. Go on without, or ask what they want."
)
NOBODY_OPENED: Final = "The person did not answer, which means no: nothing more was opened."
UNREADABLE: Final = "This call could not be read: give it a language and code."
READ_AS: Final = (
    "[Your call was not the JSON object that it must be. It was read as what it now says.]\n"
)
UNKNOWN_TOOL: Final = (
    "There is no tool of that name: call one that you are given, or execute with a language and"
    " code."
)
READ_AS_EXECUTE: Final = (
    "[There is no tool of the name that you called. It was read as the call that you see now.]\n"
)
NOW_FOLLOWS: Final = (
    "It did not run. The person has just had you follow the instructions of this folder, which now"
    " stand in the system prompt: go on by them."
)
NOT_YET: Final = "It has not run."
RUNS: Final = "It is running; what it puts out is not here yet."
DID_NOT_RUN: Final = "It did not run."
WANTED_ELSE: Final = "The person wanted something else: it did not run."
ASKED_BACK: Final = "It did not run: the person was asked whether to go on."
STEERED: Final = "It did not run: the person said something meanwhile, which follows."
STOPPED_HERE: Final = "It did not run: the person wanted the work to stop here."
INTERRUPTED_BEFORE: Final = "The person interrupted: it did not run."
INTERRUPTED: Final = "The person interrupted it."
OUT_OF_TIME: Final = "It was stopped: the time for this request was up."
IN_BACKGROUND: Final = (
    "It goes on in the background as the job {job}, in an interpreter of its own that has the"
    " variables; the next run begins in a new one, without them. The person is told when it ends,"
    " and you are with their next request: do not wait for it. Until now it printed:\n{output}"
)
JOB_ENDED: Final = "[The job {job} in the background has ended: {how}. {output}]\n"
JOB_TOO_LONG: Final = "It was stopped: it had run in the background as long as a job may."
SENT_BACK: Final = (
    "[A check that the person has set up does not take that as done yet. See to what it says, or"
    " say why you cannot: {why}]"
)
LOST_WHILE_RUNNING: Final = (
    "Sayso ended while it ran: what it did is unknown, and it was not run again."
)
LOST_BEFORE: Final = "Sayso ended before it ran: it did not run."

_OWN: Final[Mapping[str, frozenset[str]]] = {
    "refused": frozenset(
        {
            SAID_NO, SAID_NOTHING, TOO_LONG, NOT_OPENED, NOBODY_OPENED, UNREADABLE, UNKNOWN_TOOL,
            NOT_YET,
            DID_NOT_RUN, WANTED_ELSE, ASKED_BACK, STEERED, STOPPED_HERE, INTERRUPTED_BEFORE,
            LOST_BEFORE, NOW_FOLLOWS,
        }
    ),
    "interrupted": frozenset({INTERRUPTED, OUT_OF_TIME, JOB_TOO_LONG}),
    "unknown": frozenset({LOST_WHILE_RUNNING}),
}  # fmt: skip
"""What may be said in so many words of a run that ended so. Of one that code ended by itself
nothing may: code words that."""

_OTHERWISE: Final[Mapping[str, str]] = {
    "refused": DID_NOT_RUN,
    "interrupted": "It was stopped.",
    "died": "Its interpreter ended, and variables are lost.",
    "unknown": "What it did is unknown.",
}


def own_words(status: str, detail: str) -> str:
    """A sentence of the server's about a run that did not come to its end: the detail itself if it
    is one."""
    return detail if detail in _OWN.get(status, ()) else _OTHERWISE[status]

"""Records of what the person decided about a conversation (its access, mode, model and folder),
and of how its code then used the network.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Seen:
    """Which folder a path led to: another one in its place was never meant."""

    path: str
    device: int
    inode: int
    boot: str
    """Names the time since the machine started: disks get other numbers at the next start."""


@dataclass(frozen=True, slots=True)
class ReachGranted:
    """Code can reach more from here on."""

    run: str
    """The call that asked for it."""
    what: tuple[str, ...]
    """`read /home/ada/Downloads`, `host api.a.org` …"""
    by: str = ""
    """The device that granted it; empty if the settings did."""
    lasting: bool = False
    """For good, which the settings keep; else for as long as the conversation."""
    read: tuple[str, ...] = ()
    """Folders and files, whole paths."""
    write: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    network: bool = False
    """Every public host."""
    seen: tuple[Seen, ...] = ()
    """Which folders these were when they were granted; of a file, the one that holds it."""


@dataclass(frozen=True, slots=True)
class ReachTakenBack:
    """What was granted is granted no more."""

    what: tuple[str, ...]
    """In the words of the grant."""
    by: str = ""
    lasting: bool = False
    """It had been granted for good."""
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The person changed what runs unasked."""

    mode: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The person chose which language model answers here."""

    name: str
    """As the settings would name it; empty: the one of the settings."""
    by: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceChosen:
    """The person chose the folder in which code runs here."""

    path: str
    """Absolute; empty: the conversation's own."""
    by: str = ""
    seen: tuple[Seen, ...] = ()
    """Which folder it was then."""


@dataclass(frozen=True, slots=True)
class HostAsked:
    """A run wanted to send to a granted host after something was read that strangers may have
    written, and the person was asked about it."""

    run: str
    host: str
    why: str
    """As they were told: what had been read."""
    decision: Literal["yes", "no", "edit", "expired"]
    by: str = ""
    """The device that decided; empty if time did."""


@dataclass(frozen=True, slots=True)
class InstructionsAnswered:
    """The person was shown the instructions of a folder, and said whether to follow them."""

    run: str
    """The call before which they were asked."""
    folder: str
    name: str
    """Of the file."""
    digest: str
    """SHA-256 of folder, name and text: the answer is about no other."""
    follow: bool
    by: str = ""
    """The device on which it was answered, or the wish taken back."""
    lasting: bool = False
    """For good; else for this conversation."""


@dataclass(frozen=True, slots=True)
class CodeQuestioned:
    """A run asked the person something of its own, which approves nothing."""

    run: str
    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""
    by: str = ""
    """The device that answered; empty if nobody did."""


@dataclass(frozen=True, slots=True)
class ToolIntended:
    """A run's code is about to call a tool. Written before it does."""

    run: str
    call: str
    """Names this call."""
    tool: str
    arguments: str
    """As they are shown, which is the person's version if they were changed."""
    binding: str = ""
    """Hash of what was asked, or would have been."""
    outside: bool = True
    """Whether it acts outside of the sandbox."""


@dataclass(frozen=True, slots=True)
class ToolReported:
    """How that ended."""

    run: str
    call: str
    status: Literal["ok", "error", "interrupted", "died"]
    detail: str = ""
    output: str = ""
    """The beginning of what it returned."""


@dataclass(frozen=True, slots=True)
class NetworkUsed:
    """A run went to a host, or was not let through."""

    run: str
    host: str
    port: int
    verdict: Literal["passed", "refused", "failed"]
    sent: int = 0
    """Bytes that code sent there."""
    received: int = 0


@dataclass(frozen=True, slots=True)
class ConversationPinned:
    """The person wants it at the top of the list, or no more."""

    pinned: bool = True


DecisionRecord = (
    ReachGranted
    | ReachTakenBack
    | ModeChanged
    | ModelChosen
    | WorkspaceChosen
    | ConversationPinned
    | NetworkUsed
    | HostAsked
    | InstructionsAnswered
    | CodeQuestioned
    | ToolIntended
    | ToolReported
)

"""What is kept of one conversation: what was said and done, and the whole outputs of its runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.picture_words import WordsIn, read_nothing
from sayso.server.agent.record.run_outputs import RunOutputs


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is asked, in the words of who paired the device; empty for this machine."""

    device: str = ""
    person: str = ""
    """Empty for the owner."""


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """The journal and the outputs, which belong together: a call's id leads from one to the
    other."""

    journal: Journal
    outputs: RunOutputs = field(default_factory=lambda: RunOutputs(None))
    """Without a folder they are not kept."""
    clock: Callable[[], datetime] | None = None
    """What time it is; without one, models are not told of a request's circumstances."""
    place: Callable[[str], Place] = lambda _: Place()
    """Where a device is, by its id."""
    words_in: WordsIn = read_nothing
    """Reads what is written in a picture, for models that see none."""

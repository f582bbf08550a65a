"""Remembers what drafts heard in the beginning of a sound that goes on.

While somebody speaks, drafts are made of what was said until then. When the final pass comes, the
text of the last one often is all of it already, and to ask how likely a text is takes a third of
the time that it takes to find it.
"""

from collections import deque
from typing import Final

import numpy as np

from sayso.server.speech.recognition.loudness import Samples
from sayso.server.speech.recognition.recognizer import HEARING_RATE

REMEMBERED: Final = 8
"""Drafts: two of each of a few people who speak at once."""

NEWER: Final = 0.5
"""Seconds that may have been added since: in more somebody may have said another sentence."""


class EarlierDrafts:
    """The latest ones, of any utterance."""

    def __init__(self) -> None:
        self._drafts: deque[tuple[Samples, str]] = deque(maxlen=REMEMBERED)

    def remember(self, samples: Samples, text: str) -> None:
        """This was heard in these samples."""
        if text:
            self._drafts.appendleft((samples, text))

    def text_of_beginning(self, samples: Samples) -> str:
        """What was heard last in the beginning of this sound; empty if nothing was."""
        for before, text in self._drafts:
            length = len(before)
            added = len(samples) - length
            is_near = 0 <= added <= NEWER * HEARING_RATE
            if is_near and np.array_equal(before, samples[:length]):
                return text
        return ""

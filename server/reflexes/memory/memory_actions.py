"""Performs reflexes about what is remembered, and words the answer."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.memory.memories import (
    Memories,
    Memory,
    MemoryFullError,
    TooLongError,
)
from sayso.server.reflexes.memory.memory_reflexes import ForgetMemory, Recall, Remember
from sayso.server.reflexes.reflex import Reflex

log = logging.getLogger(__name__)

MOST_TOLD: Final = 8
"""Things that are read out: more is a text, which the file is for."""


class MemoryActions:
    """Answers in the language of whoever asks."""

    def __init__(
        self,
        answers: Callable[[str], Answers],
        memories: Memories,
        owner: Callable[[str], str],
    ) -> None:
        """`owner`: whose a conversation is."""
        self._answers = answers
        self._memories = memories
        self._owner = owner

    def knows(self, reflex: Reflex, asker: Asker) -> bool:
        """Whether what it names is remembered; what is not, others may know."""
        if not isinstance(reflex, Recall | ForgetMemory):
            return False
        file = self._memories.of_person(self._owner(asker.conversation))
        return bool(self._memories.about(file, reflex.about))

    async def answer(self, reflex: Reflex, asker: Asker) -> str | None:
        """Do it and say so; None if this reflex is about something else."""
        if not isinstance(reflex, Remember | Recall | ForgetMemory):
            return None
        phrases = self._answers(asker.language).memory
        try:
            return await asyncio.to_thread(self._done, reflex, asker, phrases)
        except MemoryFullError:
            return phrases["full"]
        except TooLongError:
            return phrases["long"]
        except OSError as problem:
            log.warning("what is remembered could not be written: %s", problem.strerror)
            return phrases["lost"]

    def _done(
        self,
        reflex: Remember | Recall | ForgetMemory,
        asker: Asker,
        phrases: Mapping[str, str],
    ) -> str:
        memories, file = self._memories, self._memories.of_person(self._owner(asker.conversation))
        match reflex:
            case Remember(what):
                new = memories.keep(file, what, asker.device)
                return phrases["kept" if new else "known"].format(what=what.strip(" ."))
            case Recall(about):
                found = memories.about(file, about)
                if not found:
                    return phrases["nothing" if about else "empty"]
                return phrases["holds"].format(what=_told(found))
            case ForgetMemory(about):
                found = memories.about(file, about)
                exact = [
                    one for one in found if one.text.casefold() == about.strip(" .").casefold()
                ]
                found = exact or found
                if not found:
                    return phrases["nothing"]
                if len(found) > 1:
                    return phrases["which"].format(what=_told(found))
                memories.forget(file, found)
                return phrases["forgotten"].format(what=found[0].text)


def _told(found: Sequence[Memory]) -> str:
    return "; ".join(one.text for one in found[:MOST_TOLD])

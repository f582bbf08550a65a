"""Performs reflexes about lists, and words the answer."""

import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.household.list_reflexes import (
    AddToList,
    BeginList,
    ClearList,
    LookOnList,
    ReadList,
    TakeOffList,
    TellLists,
)
from sayso.server.reflexes.household.lists import MOST_ITEMS, ListFullError, Lists
from sayso.server.reflexes.language import ListPhrases
from sayso.server.reflexes.reflex import Reflex
from sayso.server.store.errors import StoreError

log = logging.getLogger(__name__)

MOST_TOLD: Final = 20
"""Things of a list that are read out: the rest is counted."""

MOST_DEVICES: Final = 256
"""Devices whose last list is remembered: those of a household many times over."""


class ListActions:
    """Answers in the language of whoever asks, and sees to the lists."""

    def __init__(self, answers: Callable[[str], Answers], lists: Lists) -> None:
        self._answers = answers
        self._lists = lists
        self._latest: OrderedDict[str, str] = OrderedDict()
        """By device: the list that was spoken of last, which is meant by "it"."""

    async def answer(self, reflex: Reflex, asker: Asker) -> str | None:
        """Do it and say so; None if this reflex is about something else."""
        answers = self._answers(asker.language)
        try:
            match reflex:
                case AddToList(items, name):
                    return await self._add(items, self._name(name, answers, asker), asker)
                case TakeOffList(items, name):
                    return await self._take(items, self._name(name, answers, asker), asker)
                case ReadList(name):
                    return self._read(self._name(name, answers, asker), asker)
                case LookOnList(items, name):
                    return self._look(items, self._name(name, answers, asker), asker)
                case ClearList(name):
                    return await self._clear(self._name(name, answers, asker), asker)
                case TellLists():
                    return answers.lists_there(self._lists.names(asker.conversation))
                case BeginList(name):
                    return await self._begin(self._name(name, answers, asker), asker)
                case _:
                    return None
        except ListFullError:
            return answers.listed("full", [str(MOST_ITEMS)], "")
        except StoreError as problem:
            log.warning("a list could not be kept: %s", problem)
            return answers.not_kept()

    def knows(self, reflex: Reflex, asker: Asker) -> bool:
        """Whether what it names is there: the things are on the list, or there is such a list."""
        lists = self._answers(asker.language).lists
        match reflex:
            case TakeOffList(items, name) | LookOnList(items, name):
                key = name.casefold() or self._latest.get(asker.device, lists.usual)
                here = self._lists.items(key, asker.conversation)
                return bool(_found(separated(items, lists), here))
            case AddToList(_, name) | ReadList(name) | ClearList(name):
                return name.casefold() in self._lists.names(asker.conversation)
            case _:
                return False

    def _name(self, said: str, answers: Answers, asker: Asker) -> str:
        """The list that is meant: the one that was named, or was spoken of last here."""
        name = said.casefold() or self._latest.get(asker.device, answers.lists.usual)
        self._latest[asker.device] = name
        self._latest.move_to_end(asker.device)
        if len(self._latest) > MOST_DEVICES:
            self._latest.popitem(last=False)
        return name

    async def _add(self, said: str, name: str, asker: Asker) -> str:
        answers = self._answers(asker.language)
        items = separated(said, answers.lists)
        new = await self._lists.add(name, items, asker)
        old = [item for item in items if item not in new]
        told = [answers.listed("added", new, name)] if new else []
        told += [answers.listed("there", old, name)] if old else []
        return " ".join(told)

    async def _take(self, said: str, name: str, asker: Asker) -> str:
        answers = self._answers(asker.language)
        items = separated(said, answers.lists)
        here = self._lists.items(name, asker.conversation)
        gone = await self._lists.take(name, _found(items, here), asker)
        return answers.listed("taken" if gone else "absent", gone or items, name)

    def _read(self, name: str, asker: Asker) -> str:
        answers = self._answers(asker.language)
        items = self._lists.items(name, asker.conversation)
        if not items:
            return answers.listed("empty", [], name)
        told = answers.listed("holds", items[:MOST_TOLD], name)
        more = len(items) - MOST_TOLD
        return f"{told} {answers.more(more)}" if more > 0 else told

    def _look(self, said: str, name: str, asker: Asker) -> str:
        answers = self._answers(asker.language)
        here = self._lists.items(name, asker.conversation)
        items = separated(said, answers.lists)
        found = all(_found([item], here) for item in items)
        return answers.listed("found" if found else "not_found", items, name)

    async def _begin(self, name: str, asker: Asker) -> str:
        await self._lists.begin(name, asker)
        return self._read(name, asker)

    async def _clear(self, name: str, asker: Asker) -> str:
        await self._lists.end(name, asker)
        return self._answers(asker.language).listed("cleared", [], name)


def _found(items: Sequence[str], here: Sequence[str]) -> list[str]:
    """What of a list is meant: the thing of this name, else the only one that has these words in
    it ("the juice" where two litres of orange juice are to be bought)."""
    found: list[str] = []
    for item in items:
        exact = [one for one in here if one.casefold() == item.casefold()]
        words = set(item.casefold().split())
        alike = [one for one in here if words <= set(one.casefold().split())]
        found += exact or (alike if len(alike) == 1 else [])
    return found


def separated(said: str, phrases: ListPhrases) -> Sequence[str]:
    """Things that were named in a row: "milk, eggs and bread" are three."""
    words = "|".join(map(re.escape, phrases.separators))
    some = "|".join(map(re.escape, phrases.articles))
    parts = re.split(rf"\s*,\s*(?:(?:{words})\s+)?|\s+(?:{words})\s+", said.strip(' .,!?"“”„'))
    bare = (
        re.sub(rf"^(?:(?:{some})\s+)+", "", part.strip(), flags=re.IGNORECASE) for part in parts
    )
    return [part for part in bare if part]

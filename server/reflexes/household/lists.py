"""Keeps a person's lists in the log: "add milk to the shopping list".

A list belongs to a person, whichever of their conversations it is spoken of in. What was put on it
in a conversation that is forgotten goes with that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from sayso.server.reflexes.asker import Asker
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Event
from sayso.server.store.reminders import ListAdded, ListTaken

MOST_ITEMS: Final = 200
"""On all lists of a person: more is no list that somebody hears read out."""

MOST_LISTS: Final = 50
"""Of a person, begun or in use: nobody keeps more apart."""

LONGEST_ITEM: Final = 80
"""Characters of one thing."""

KEPT_S: Final = 366 * 86_400.0
"""A year: what was put on a list before that and not bought is not wanted."""


class ListFullError(Exception):
    """So much is on a person's lists that nothing further is put there."""


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    conversation: str


class Lists:
    """All lists of all persons. Made by `open`."""

    def __init__(self, event_log: EventLog, owner: Callable[[str], str]) -> None:
        self._log = event_log
        self.owner = owner
        """Whose a conversation is."""
        self._items: dict[str, list[_Item]] = {}
        """By the list's name, of all persons, in the order in which they were added."""
        self._begun: dict[str, set[str]] = {}
        """Conversations in which a list of this name was begun, whatever it holds."""

    @classmethod
    async def open(
        cls, event_log: EventLog, owner: Callable[[str], str], now: Callable[[], float]
    ) -> Self:
        """What the log holds. `owner`: whose a conversation is. Raises StoreError."""
        lists = cls(event_log, owner)
        for event in await event_log.of_types(ListAdded, ListTaken, since=now() - KEPT_S):
            match event.record:
                case ListAdded(name, items):
                    lists._put(name, items, event.conversation)
                case ListTaken(name, items):
                    # Whose the conversation is may not be known yet, so each takes off its own.
                    lists._remove(name, items, event.conversation)
        return lists

    def items(self, name: str, conversation: str) -> list[str]:
        """What is on a list of the person whose conversation this is, in order."""
        return [item.text for item in self._theirs(name, conversation)]

    def names(self, conversation: str) -> list[str]:
        """The lists of the person whose conversation this is: those that hold anything, and those
        that were begun."""
        person = self.owner(conversation)
        begun = [name for name, places in self._begun.items() if person in map(self.owner, places)]
        held = [name for name in self._items if self._theirs(name, conversation)]
        return list(dict.fromkeys((*held, *begun)))

    async def begin(self, name: str, asker: Asker) -> None:
        """There is to be a list of this name, empty for now. Raises ListFullError, StoreError."""
        names = self.names(asker.conversation)
        if name not in names:
            if len(names) >= MOST_LISTS:
                raise ListFullError
            await self._write(ListAdded(name, (), asker.device), asker.conversation)
            self._put(name, (), asker.conversation)

    async def end(self, name: str, asker: Asker) -> None:
        """Take everything off a list, and forget that it was begun. Raises StoreError."""
        await self.take(name, self.items(name, asker.conversation), asker)
        person = self.owner(asker.conversation)
        for place in [each for each in self._begun.get(name, ()) if self.owner(each) == person]:
            await self._write(ListTaken(name, (), asker.device), place)
            self._remove(name, (), place)

    async def add(self, name: str, items: Sequence[str], asker: Asker) -> list[str]:
        """Put things on a list; returns those that were not there. Raises ListFullError,
        StoreError."""
        here = {item.casefold() for item in self.items(name, asker.conversation)}
        cut = dict.fromkeys(item[:LONGEST_ITEM] for item in items)
        new = [item for item in cut if item.casefold() not in here]
        kept = sum(len(self._theirs(each, asker.conversation)) for each in self._items)
        if kept + len(new) > MOST_ITEMS:
            raise ListFullError
        if new:
            await self._write(ListAdded(name, tuple(new), asker.device), asker.conversation)
            self._put(name, new, asker.conversation)
        return new

    async def take(self, name: str, items: Sequence[str], asker: Asker) -> list[str]:
        """Take things off a list; returns those that were there. Raises StoreError."""
        wanted = {item.casefold() for item in items}
        gone = [
            one for one in self._theirs(name, asker.conversation) if one.text.casefold() in wanted
        ]
        for place in dict.fromkeys(item.conversation for item in gone):
            texts = tuple(item.text for item in gone if item.conversation == place)
            await self._write(ListTaken(name, texts, asker.device), place)
        self._items[name] = [item for item in self._items.get(name, ()) if item not in gone]
        return [item.text for item in gone]

    def forget(self, conversation: str) -> None:
        """The conversation is forgotten, and with it what was put on lists there."""
        for name, items in self._items.items():
            self._items[name] = [item for item in items if item.conversation != conversation]
        for places in self._begun.values():
            places.discard(conversation)

    def _theirs(self, name: str, conversation: str) -> list[_Item]:
        person = self.owner(conversation)
        return [one for one in self._items.get(name, ()) if self.owner(one.conversation) == person]

    def _put(self, name: str, items: Sequence[str], conversation: str) -> None:
        self._items.setdefault(name, []).extend(_Item(item, conversation) for item in items)
        if not items:
            self._begun.setdefault(name, set()).add(conversation)

    def _remove(self, name: str, items: Sequence[str], conversation: str) -> None:
        if not items:
            self._begun.get(name, set()).discard(conversation)
        self._items[name] = [
            item
            for item in self._items.get(name, ())
            if item.conversation != conversation or item.text not in items
        ]

    async def _write(self, record: ListAdded | ListTaken, conversation: str) -> None:
        await self._log.append(Event(conversation, "person", record))

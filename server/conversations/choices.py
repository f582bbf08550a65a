"""Lists what a person can choose on a screen: conversations, voices, models and modes."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from sayso.protocol.home import Home
from sayso.server.agent.permissions.permissions import MEANINGS
from sayso.server.conversations.registry import ConversationRegistry, NoSuchConversation, called
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.installed import voices
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Conversation
from sayso.server.store.redaction import redacted
from sayso.server.store.search import search

CONVERSATIONS: Final = "/conversations"
CHOICES: Final = "/choices"
FOUND: Final = "/found/"
FOUND_MOST: Final = 50
"""Conversations in which words were found."""
LISTED: Final = 200
"""Conversations of a list: more than a person scrolls through. `/resume` finds older ones."""


class Choices:
    """Looks, and changes nothing."""

    def __init__(self, home: Home, conversations: ConversationRegistry) -> None:
        self._artifacts = InstalledModels(home)
        self._conversations = conversations
        self._log = home.state / "events.sqlite"

    async def look(self, path: str, person: str) -> Mapping[str, Any] | None:
        """The list at this HTTP path; None if there is none, or none that this person may see."""
        try:
            if path == CHOICES:
                return await asyncio.to_thread(self._choices)
            if path == CONVERSATIONS:
                there = await self._conversations.all(person)
                return {"conversations": [_line(one) for one in there[:LISTED]]}
            if path.startswith(FOUND):
                return await self._find(path.removeprefix(FOUND), person)
            return await self._past(path.removeprefix(f"{CONVERSATIONS}/"), person)
        except (NoSuchConversation, StoreError):
            return None

    async def _past(self, wanted: str, person: str) -> Mapping[str, Any] | None:
        about = await self._conversations.find(wanted, person)
        if about.id != wanted:
            return None
        here = await self._conversations.enter(about)
        agent = here.agent
        settled = {"model": agent.model_name, "mode": agent.permissions.mode}
        return {**_line(about), **settled, **await here.past()}

    async def _find(self, words: str, person: str) -> Mapping[str, Any]:
        there = {one.id: called(one) for one in await self._conversations.all(person)}
        found = await asyncio.to_thread(search, self._log, words, tuple(there), FOUND_MOST)
        return {
            "found": [
                {
                    "id": one.conversation,
                    "called": there[one.conversation],
                    "excerpt": redacted(one.excerpt),
                    "time": one.time,
                    "by_person": one.by_person,
                }
                for one in found
            ]
        }

    def _choices(self) -> Mapping[str, Any]:
        models = (model for model in self._artifacts.models() if model.kind == "language_model")
        return {
            "voices": [
                {"name": voice.name, "language": voice.language}
                for voice in voices(self._artifacts)
            ],
            "models": [model.name for model in models],
            "modes": MEANINGS,
        }


def _line(about: Conversation) -> dict[str, Any]:
    """A conversation, as a list shows it."""
    own = {"id": about.id, "name": about.name, "called": called(about)}
    return own | {"began": about.began, "last": about.last, "pinned": about.pinned}

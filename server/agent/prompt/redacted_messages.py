"""Removes secrets from messages as the last step before they are sent to a model.

Every text (output, an error, a file's name, a note on what came before) reaches a
model by this one way. What the person said themselves is left to them: who gives a key to be used
gives it. What code disguises (in base64, backwards, letter by letter) is not known for a secret.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.store.redaction import redacted

AT_ONCE_CHARS: Final = 20_000
"""So many are read in some 10 ms; more is read beside the rest."""


class Outgoing:
    """Of one conversation. Remembers which texts had no secret in them, not the texts."""

    def __init__(self) -> None:
        self._clean: frozenset[bytes] = frozenset()

    async def without_secrets(
        self, messages: Sequence[ChatMessage], said: Sequence[str]
    ) -> list[ChatMessage]:
        """The messages as a model is to be sent them; `said`: what the person said."""
        looking = _Looking(self._clean, "\n".join(said))
        if sum(looking.is_new(text) and len(text) for text in _texts(messages)) > AT_ONCE_CHARS:
            told = await asyncio.to_thread(looking.through, messages)
        else:
            told = looking.through(messages)
        self._clean = frozenset(looking.clean)
        return told


class _Looking:
    """One look through all messages."""

    def __init__(self, known: frozenset[bytes], said: str) -> None:
        self._known = known
        self._said = said
        self.clean: set[bytes] = set()

    def is_new(self, text: str) -> bool:
        return _mark(text) not in self._known

    def through(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        return [self._message(message) for message in messages]

    def _message(self, message: ChatMessage) -> ChatMessage:
        told = dict(message)
        match told.get("content"):
            case str(text):
                told["content"] = self._text(text)
            case list(parts):
                told["content"] = [self._part(part) for part in parts]
            case _:
                pass
        if "tool_calls" in told:
            told["tool_calls"] = [self._call(call) for call in told["tool_calls"]]
        return told

    def _part(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**part, "text": self._text(part["text"])} if "text" in part else part

    def _call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        function = call["function"]
        try:
            value = read_json(function["arguments"], control_characters=True)
        except UntrustedJsonError:
            written = self._text(function["arguments"])
        else:
            told = self._value(value)
            written = function["arguments"] if told == value else json.dumps(told)
        return {**call, "function": {**function, "arguments": written}}

    def _value(self, value: object) -> object:
        match value:
            case str(text):
                return self._text(text)
            case list(parts):
                return [self._value(part) for part in parts]
            case dict(parts):
                return {self._text(name): self._value(part) for name, part in parts.items()}
            case _:
                return value

    def _text(self, text: str) -> str:
        mark = _mark(text)
        if mark not in self._known and redacted(text) != text:
            return redacted(text, self._said)
        self.clean.add(mark)
        return text


def _texts(messages: Sequence[ChatMessage]) -> Sequence[str]:
    return [text for message in messages if isinstance(text := message.get("content"), str)]


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

"""Reads what a client of the OpenAI API asks for, in both of its forms. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.protocol.messages.bounds import LONGEST_TYPED
from sayso.server.adapters.openai.errors import BadRequest

MODEL: Final = "sayso"
PLAIN_MODEL: Final = "sayso-plain"
"""The language model alone: for titles and tags, which programs ask for by themselves."""

MOST_MESSAGES: Final = 2_000

_ROLES: Final = frozenset({"system", "developer", "user", "assistant"})
_NOT_TAKEN: Final = {
    "tools": "Sayso uses its own tools, not those of the client: leave `tools` out.",
    "functions": "Sayso uses its own tools, not those of the client: leave `functions` out.",
    "response_format": "Sayso answers in its own words: leave `response_format` out.",
}
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of the past, as the client tells it."""

    asked: str
    answered: str


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to a question that was put as an item."""

    id: str
    approved: bool


@dataclass(frozen=True, slots=True)
class ConversationInput:
    """What is wanted, and what the client says was said before."""

    model: str
    text: str
    """Empty where it is only decided about a question."""
    instructions: str = ""
    past: tuple[Said, ...] = ()
    decisions: tuple[Decision, ...] = ()
    previous: str = ""
    """The id of the response that this one goes on with."""
    stream: bool = False
    usage: bool = False
    """In a stream of chunks, whether the last one tells what it took."""

    @property
    def digest_before(self) -> str:
        """Of all that was said before; empty where nothing was."""
        return digest(self.instructions, self.past) if self.past else ""

    def digest_after(self, answer: str) -> str:
        """Of the same, with this request and its answer."""
        return digest(self.instructions, (*self.past, Said(self.text, answer)))


@dataclass(slots=True)
class _Reader:
    """Puts messages together to turns."""

    instructions: list[str] = field(default_factory=list)
    past: list[Said] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)

    def take(self, role: str, text: str) -> None:
        if role in ("system", "developer"):
            self.instructions.append(text)
        elif role == "assistant":
            self.answered.append(text)
        else:
            if self.answered:
                self.close()
            self.asked.append(text)

    def close(self) -> None:
        said = Said("\n\n".join(self.asked), "\n\n".join(self.answered))
        self.past.append(said)
        self.asked, self.answered = [], []

    def text(self) -> str:
        """What is asked now: all that the person said since the last answer."""
        if self.answered:
            raise BadRequest("The last message must be the person's: role `user`.")
        text = "\n\n".join(self.asked).strip()
        if len(text) > LONGEST_TYPED:
            raise BadRequest("That text is too long. Put it into a file and ask about the file.")
        return text


def digest(instructions: str, past: Sequence[Said]) -> str:
    """The same for the same history, however its ends are padded."""
    turns = [[said.asked.strip(), said.answered.strip()] for said in past]
    written = json.dumps([instructions.strip(), turns], ensure_ascii=True)
    return hashlib.sha256(written.encode()).hexdigest()


def read_chat(body: Mapping[str, Any]) -> ConversationInput:
    """The body of a POST to chat/completions. Raises BadRequest."""
    model = _model(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("`messages` must be a list with at least one message.")
    if body.get("n") not in (None, 1):
        raise BadRequest("Sayso gives one answer: leave `n` out.")
    reader = _read_messages(messages)
    options = body.get("stream_options")
    usage = isinstance(options, Mapping) and options.get("include_usage") is True
    text = reader.text()
    if not text:
        raise BadRequest("The last message must be the person's, and say something.")
    return ConversationInput(
        model,
        text,
        "\n\n".join(reader.instructions),
        tuple(reader.past),
        stream=body.get("stream") is True,
        usage=usage,
    )


def read_response(body: Mapping[str, Any]) -> ConversationInput:
    """The body of a POST to responses. Raises BadRequest."""
    model = _model(body)
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise BadRequest("`input` must be a text or a list of items.")
    decisions = tuple(_decisions(items))
    kinds = ("mcp_approval_request", "mcp_approval_response", "code_interpreter_call", "reasoning")
    messages = [item for item in items if not _is_kind(item, kinds)]
    reader = _read_messages(messages)
    instructions, previous = body.get("instructions"), body.get("previous_response_id")
    if isinstance(instructions, str) and instructions:
        reader.instructions.insert(0, instructions)
    text = "" if decisions and reader.answered else reader.text()
    if not text and not decisions:
        raise BadRequest("`input` must end with what the person says.")
    return ConversationInput(
        model,
        text,
        "\n\n".join(reader.instructions),
        tuple(reader.past),
        decisions,
        previous if isinstance(previous, str) else "",
        stream=body.get("stream") is True,
    )


def _is_kind(item: object, kinds: Sequence[str]) -> bool:
    return isinstance(item, Mapping) and item.get("type") in kinds


def _decisions(items: Sequence[object]) -> list[Decision]:
    """Those that nothing was said after."""
    found: list[Decision] = []
    for item in items:
        if not isinstance(item, Mapping):
            continue
        if item.get("type") == "mcp_approval_response":
            request, approved = item.get("approval_request_id"), item.get("approve")
            if not isinstance(request, str) or not isinstance(approved, bool):
                raise BadRequest("An approval needs `approval_request_id` and `approve`.")
            found.append(Decision(request, approved))
        elif item.get("role") in ("assistant", "user"):
            found.clear()
    return found


def _model(body: Mapping[str, Any]) -> str:
    for name, sentence in _NOT_TAKEN.items():
        if _is_wanted(body.get(name)):
            raise BadRequest(sentence)
    model = body.get("model", MODEL)
    if model not in (MODEL, PLAIN_MODEL):
        raise BadRequest(f"There are the models {MODEL} and {PLAIN_MODEL} here.")
    return str(model)


def _is_wanted(value: object) -> bool:
    """Programs say plainly, too, that they want nothing of it."""
    return bool(value) and value != {"type": "text"}


def _read_messages(messages: Sequence[object]) -> _Reader:
    if len(messages) > MOST_MESSAGES:
        raise BadRequest(f"{MOST_MESSAGES} messages are read at most: begin anew.")
    reader = _Reader()
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
            raise BadRequest("Messages have the role system, developer, user or assistant.")
        reader.take(message["role"], _text(message.get("content")))
    return reader


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadRequest("A message's content is a text, or a list of parts.")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "refusal":
            continue
        if kind not in _TEXTS or not isinstance(part.get("text"), str):
            raise BadRequest("Only text is taken here: send files with `sayso ask --file`.")
        texts.append(part["text"])
    return "\n".join(texts)

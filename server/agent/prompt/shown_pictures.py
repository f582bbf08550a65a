"""Pictures as a model is shown them: which ones, and as parts of messages. Pure."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sayso.server.agent.record.conversation_history import Exchange, Step

PICTURES: Final = 4
"""So many at most are shown to a model again with each request: each takes as much as a page."""

Pictures = Mapping[str, tuple[str, bytes]]
"""By name: its form and its bytes."""


def drawn(step: Step) -> Sequence[str]:
    """The names of pictures that runs of a step showed."""
    return [name for act in step.acts if act.report for name in act.report.pictures]


def pictures_of(exchange: Exchange) -> Iterator[str]:
    """The names of those that a request names, and that were shown over it."""
    yield from exchange.pictures
    for step in exchange.steps:
        yield from drawn(step)


def parts_of(content: object) -> list[object]:
    """A message's content as a list, which pictures can join."""
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]


def picture(mime: str, data: bytes) -> Mapping[str, Any]:
    """One of them, as a part of a message."""
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}

"""What a model that sees no pictures is told of those that a request names: the words in them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from sayso.server.agent.prompt.server_notes import between_marks
from sayso.server.agent.record.named_pictures import NamedPicture

HOW_TO_GET_IT: Final = "pip install 'sayso[ocr]'"

TOGETHER_CHARS: Final = 12_000
"""Of all pictures of a request."""

_READ: Final = (
    "[You cannot see {name}. A machine read these words in it, perhaps with mistakes:\n{words}\n"
    "What else there is to be seen in it you do not know. Say so where that matters.]"
)
_NO_WORDS: Final = (
    "[You cannot see {name}, and a machine found no words in it. Say that you cannot see what it"
    " shows.]"
)
_UNREAD: Final = (
    "[You cannot see {name}, and the words in it could not be read, because {why}. Say that you"
    " cannot see it; a language model that sees could.]"
)

WordsIn = Callable[[bytes], Awaitable[str]]
"""Tells what is written in a picture. Raises UnreadablePicture."""


class UnreadablePicture(Exception):
    """The words in a picture could not be read; the message is a clause that says why."""


async def read_nothing(_: bytes) -> str:
    """Where nothing reads pictures."""
    raise UnreadablePicture(f"nothing that reads pictures is installed ({HOW_TO_GET_IT})")


async def told_of(pictures: Sequence[NamedPicture], words_in: WordsIn) -> str:
    """What a model is told that sees none of these."""
    room = TOGETHER_CHARS // max(1, len(pictures))
    return "\n\n".join([await _told(each, words_in, room) for each in pictures])


async def _told(picture: NamedPicture, words_in: WordsIn, room: int) -> str:
    name = f"the picture {picture.name}"
    try:
        words = await words_in(picture.data)
    except UnreadablePicture as problem:
        return _UNREAD.format(name=name, why=problem)
    if not words.strip():
        return _NO_WORDS.format(name=name)
    return _READ.format(name=name, words=between_marks("picture", words[:room]))

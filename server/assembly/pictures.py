"""Reads the words in pictures for models that see none, where what does so is installed."""

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import Final

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.agent.record.picture_words import HOW_TO_GET_IT, WordsIn, read_nothing
from sayso.server.runtimes.sandbox.sandbox import Sandbox

NEEDED: Final = ("rapidocr", "PIL", "numpy", "onnxruntime")


def open_reading(
    home: Home, sandbox: Callable[[], Sandbox | None], stack: AsyncExitStack
) -> WordsIn:
    """What reads pictures, for all conversations; nothing of it is started before it is needed."""
    if not _installed():
        return read_nothing
    from sayso.server.capabilities.ocr.picture_text import PictureText

    reading = PictureText(sandbox, home.data / "ocr")
    stack.push_async_callback(reading.close)
    return reading.read


def examine() -> Iterator[Finding]:
    """Looks whether the words in pictures can be read here."""
    if _installed():
        yield Finding("pictures", "good", "Words in them are read for a model that sees none.")
    else:
        detail = (
            "Their words can't be read for a model that sees none; one that sees needs nothing."
        )
        yield Finding("pictures", "good", detail, HOW_TO_GET_IT)


def _installed() -> bool:
    return all(find_spec(name) for name in NEEDED)

"""Speaks the Chrome DevTools Protocol over one socket: JSON texts, each ended by a zero byte.

What comes from there is data of a program that strangers' pages may have taken over.
"""

import asyncio
import contextlib
import itertools
import json
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.capabilities.browser.errors import BrowserError, BrowserGoneError

Fields = Mapping[str, Any]

MESSAGE_MOST_BYTES: Final = 24 * 1024**2
"""Of one message: a picture of a large page."""

ANSWER_S: Final = 20.0
"""A browser that works answers within milliseconds, a machine that is out of breath in seconds."""

_NO_EVENT: Final = (ValueError, TypeError, AttributeError, LookupError, OverflowError)
"""What comes of reading an event that is not like those of the protocol; it is passed over."""

_GONE: Final = "The browser has ended; open the page again."


class CdpError(BrowserError):
    """The browser refused a command."""


class Cdp:
    """One connection. Commands and events belong to a session: a page, a frame of another site, or
    the browser as a whole, whose session has no name."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        happened: Callable[[str, str, Fields], None],
    ) -> None:
        """`happened` hears each event: its session, its name, and what it tells."""
        self._reader = reader
        self._writer = writer
        self._happened = happened
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Fields]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def over(cls, ours: socket.socket, happened: Callable[[str, str, Fields], None]) -> "Cdp":
        """Speak over this socket."""
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MESSAGE_MOST_BYTES)
        return cls(reader, writer, happened)

    @property
    def open(self) -> bool:
        """Whether anybody answers."""
        return not self._reading.done()

    async def ask(
        self,
        method: str,
        session: str = "",
        *,
        seconds: float = ANSWER_S,
        **parameters: Any,  # noqa: ANN401 - what JSON can say
    ) -> Fields:
        """Have a command carried out; what came of it. Raises CdpError, BrowserGoneError."""
        if not self.open:
            raise BrowserGoneError(_GONE)
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(json.dumps(message).encode() + b"\0")
            async with asyncio.timeout(seconds):
                found: Fields = await answer
                return found
        except TimeoutError:
            raise CdpError("The page did not answer in time; wait, or open it again.") from None
        except ConnectionError:
            raise BrowserGoneError(_GONE) from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Hang up."""
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        self._writer.close()

    async def _read(self) -> None:
        try:
            while True:
                text = await self._reader.readuntil(b"\0")
                self._take(read_json(text[:-1], most_bytes=MESSAGE_MOST_BYTES))
        except (OSError, EOFError, asyncio.LimitOverrunError, UntrustedJsonError):
            pass  # it has ended, or says what cannot be read
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(BrowserGoneError(_GONE))
            self._happened("", "gone", {})

    def _take(self, message: Any) -> None:  # noqa: ANN401 - JSON
        if not isinstance(message, dict):
            return
        number = message.get("id")
        if number is None:
            fields = message.get("params")
            with contextlib.suppress(*_NO_EVENT):
                self._happened(
                    str(message.get("sessionId", "")),
                    str(message.get("method", "")),
                    fields if isinstance(fields, dict) else {},
                )
            return
        answer = self._waiting.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        if isinstance(error := message.get("error"), dict):
            answer.set_exception(CdpError(str(error.get("message", "it failed"))[:300]))
        else:
            result = message.get("result")
            answer.set_result(result if isinstance(result, dict) else {})

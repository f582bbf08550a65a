"""Reads the body of a request, no faster than its handler takes it, and only up to its limit."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Protocol

import h11

from sayso.server.gateway.limits import Limits


class BodyRefused(Exception):
    """A body that is not read any further; the connection ends with the answer."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Source(Protocol):
    """Where the body comes from."""

    @property
    def transport(self) -> asyncio.Transport: ...

    async def more(self) -> None:
        """Wait until more was received."""
        ...


async def body_of(
    source: Source, parser: h11.Connection, most: int, limits: Limits
) -> AsyncIterator[bytes]:
    """Its pieces. Raises BodyRefused."""
    ends_at = asyncio.get_running_loop().time() + limits.body_s
    size = 0
    if parser.they_are_waiting_for_100_continue:
        go_on = h11.InformationalResponse(status_code=100, headers=[], reason="Continue")
        source.transport.write(parser.send(go_on) or b"")
    while True:
        try:
            event = parser.next_event()
        except h11.RemoteProtocolError as error:
            status = HTTPStatus(error.error_status_hint)
            raise BodyRefused(status, "The body cannot be read.") from error
        if event is h11.NEED_DATA:
            await _more(source, ends_at, limits)
        elif isinstance(event, h11.Data):
            size += len(event.data)
            if size > most:
                raise too_large(most)
            yield bytes(event.data)
        else:
            return


async def _more(source: Source, ends_at: float, limits: Limits) -> None:
    now = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(min(ends_at, now + limits.body_stalls_s)):
            await source.more()
    except TimeoutError as error:
        raise BodyRefused(HTTPStatus.REQUEST_TIMEOUT, "The body came too slowly.") from error


def too_large(most: int) -> BodyRefused:
    """More than this is not read."""
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return BodyRefused(status, f"A body has {most} bytes at most here.")

"""The captive portal: how a factory-fresh device learns where it is.

It opens a network of its own and answers every phone's question "is there internet?" with its page:
choose the network, its password, the server's address; compare five words; type six digits. Here
the network is simulated, the portal is HTTP on this machine, and all that follows is real.
"""

import asyncio
import html
import json
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import parse_qs

from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.program.setup import Found, Setup, SetupFailed

PROBES = (
    "/generate_204",
    "/gen_204",
    "/hotspot-detect.html",
    "/library/test/success.html",
    "/connecttest.txt",
    "/ncsi.txt",
    "/redirect",
    "/canonical.html",
    "/success.txt",
)
"""What Android, Apple, Windows and Firefox ask a new network, to find out whether it is free."""

REQUEST_BYTES = 4_096
"""Of head and body together: more than the form can be."""
REQUEST_S = 5.0
"""A phone sends its request at once; nobody holds one of the few sockets open."""

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Set up Sayso</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{{font:1.1rem system-ui;max-width:26rem;margin:2rem auto;padding:0 1rem}}
label,input,select,button{{display:block;width:100%;box-sizing:border-box;margin:.4rem 0 1rem;
font:inherit;padding:.5rem}}label{{padding:0;margin-bottom:0}}p.bad{{color:#a00}}
code{{font-size:1.3rem}}</style></head><body><h1>Set up Sayso</h1>{body}</body></html>"""

JOIN = """<form method="post" action="/join">
<label for="network">Network</label><select id="network" name="network">{networks}</select>
<label for="password">Password</label><input id="password" name="password" type="password">
<label for="server">Address of the server</label>
<input id="server" name="server" value="{server}" placeholder="sayso.local:8766" required>
<label for="name">Name of this device</label><input id="name" name="name" value="{name}">
<button>Go on</button></form>"""

PAIR = """{words}<form method="post" action="/pair">
<label for="code">The six digits that <code>sayso pair</code> shows</label>
<input id="code" name="code" inputmode="numeric" autocomplete="off" required>
<button>Pair</button></form>
<p><a href="/">Another network or server</a></p>"""

WORDS = """<p>Compare these words with the server's screen, and go on only if they are the same:</p>
<p><code>{words}</code></p>"""

DONE = "<p>Done: {name} belongs to this house now. It starts anew; press its button and talk.</p>"


class Portal:
    """Open until the device is set up."""

    def __init__(self, nvs: Nvs, setup: Setup) -> None:
        self._nvs = nvs
        self._setup = setup
        self._found: Found | None = None
        self._server: asyncio.Server | None = None
        self._done = asyncio.Event()

    async def open(self, port: int) -> int:
        """Begin to answer on this machine alone; returns the port."""
        self._server = await asyncio.start_server(
            self._answer, "127.0.0.1", port, limit=REQUEST_BYTES
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def set_up(self) -> Stored:
        """Wait until a person has set the device up; it is stored then."""
        await self._done.wait()
        return self._nvs.load()

    async def close(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_S):
                method, path, form = await _request(reader)
        except (TimeoutError, ValueError, OSError, asyncio.IncompleteReadError):
            await _hang_up(writer)
            return
        status, kind, body, location = await self._page(method, path, form)
        head = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"Content-Type: {kind}; charset=utf-8",
            f"Content-Length: {len(body.encode())}",
            "Cache-Control: no-store",
            "Connection: close",
        ]
        if location:
            head.append(f"Location: {location}")
        with suppress(OSError):
            writer.write(("\r\n".join(head) + "\r\n\r\n" + body).encode())
            await writer.drain()
        await _hang_up(writer)

    async def _page(
        self, method: str, path: str, form: Mapping[str, str]
    ) -> tuple[HTTPStatus, str, str, str]:
        match method, path:
            case "GET", "/":
                return _html(self._join_form())
            case "GET", "/networks":
                networks = json.dumps(sorted(self._setup.networks))
                return HTTPStatus.OK, "application/json", networks, ""
            case "POST", "/join":
                return _html(await self._join(form))
            case "POST", "/pair":
                return _html(await self._pair(form))
            case "GET", _ if path in PROBES:
                return HTTPStatus.FOUND, "text/plain", "", "/"
            case _:
                return HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here. Try /\n", ""

    async def _join(self, form: Mapping[str, str]) -> str:
        try:
            self._found = await self._setup.find(
                form.get("network", ""), form.get("password", ""), form.get("server", "")
            )
        except SetupFailed as problem:
            return _complaint(problem) + self._join_form(form)
        self._name = form.get("name", "").strip() or "sayso device"
        return self._pair_form()

    async def _pair(self, form: Mapping[str, str]) -> str:
        if self._found is None:
            return self._join_form()
        try:
            stored = await self._setup.pair(self._found, self._name, form.get("code", ""))
        except SetupFailed as problem:
            return _complaint(problem) + self._pair_form()
        self._nvs.save(stored)
        self._done.set()
        return DONE.format(name=html.escape(stored.name))

    def _join_form(self, form: Mapping[str, str] | None = None) -> str:
        given = form or {}
        options = "".join(
            f"<option{' selected' * (name == given.get('network'))}>{html.escape(name)}</option>"
            for name in self._setup.networks
        )
        server, name = given.get("server", ""), given.get("name", "")
        return JOIN.format(networks=options, server=html.escape(server), name=html.escape(name))

    def _pair_form(self) -> str:
        words = self._found.words if self._found else ""
        return PAIR.format(words=WORDS.format(words=html.escape(words)) if words else "")


def _html(body: str) -> tuple[HTTPStatus, str, str, str]:
    return HTTPStatus.OK, "text/html", PAGE.format(body=body), ""


def _complaint(problem: SetupFailed) -> str:
    return f'<p class="bad" role="alert">{html.escape(str(problem))}</p>'


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, Mapping[str, str]]:
    """Method, path and form of one request. Raises ValueError on what is none."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    length = 0
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            length = int(value)
    if not 0 <= length <= REQUEST_BYTES:
        raise ValueError("a longer form than there is")
    body = (await reader.readexactly(length)).decode("utf-8", "replace")
    form = {name: values[0] for name, values in parse_qs(body, max_num_fields=16).items()}
    return method, target.partition("?")[0], form

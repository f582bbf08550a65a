"""A real browser in the real sandbox, a small web on loopback, and a person who answers."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.agent.tools.tool import ToolContext
from sayso.server.capabilities.browser.browser import Browser, BrowserPlace, Looks
from sayso.server.capabilities.browser.leases import Leases
from sayso.server.capabilities.browser.operations import Done, Operations
from sayso.server.runtimes.network.addresses import Unreachable, Whereabouts
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import candidates
from tests.machine import lacking, needed

HOST = "site.example"
"""And whatever ends so: it is here, and counts as outside."""

_TYPES = {".js": "text/javascript", ".css": "text/css", ".png": "image/png", ".bin": "x/y"}


@dataclass
class SmallWeb:
    """Serves pages by host and path, or by path alone."""

    port: int = 0
    pages: dict[str, str | bytes] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    """Further header lines, by path."""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Host, line and body of each request."""
    root: Path | None = None
    """Files for what is not among the pages."""
    looked_up: list[str] = field(default_factory=list)

    def at(self, path: str = "/", host: str = HOST) -> str:
        return f"http://{host}:{self.port}{path}"

    async def find(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        if not host.endswith(".example"):
            raise Unreachable(f"{host} is not known")
        return ("127.0.0.1",)

    def is_outside(self, address: str) -> bool:
        return True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.split("\r\n")
                named = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:])
                }
                body = await reader.readexactly(int(named.get("content-length", 0)))
                host = named.get("host", "").partition(":")[0]
                self.asked.append((host, lines[0], body.decode(errors="replace")))
                writer.write(self._answer(host, lines[0].split(" ")[1].partition("?")[0]))
                await writer.drain()
                if named.get("connection") == "close":  # as the proxy asks of every server
                    break
        except (OSError, EOFError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(self, host: str, path: str) -> bytes:
        page = self.pages.get(f"{host}{path}", self.pages.get(path))
        if page is None and self.root and (self.root / path[1:]).is_file():
            page = (self.root / path[1:]).read_bytes()
        status = "404 Not Found" if page is None else "200 OK"
        more = self.heads.get(path, "")
        if more.startswith("HTTP/"):
            status, _, more = more.removeprefix("HTTP/1.1 ").partition("\r\n")
        data = page.encode() if isinstance(page, str) else page or b""
        kind = _TYPES.get(Path(path).suffix, "text/html; charset=utf-8")
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}"
        return f"{head}\r\n".encode() + data


@asynccontextmanager
async def small_web(root: Path | None = None) -> AsyncIterator[SmallWeb]:
    web = SmallWeb(root=root)
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0, limit=1024**2)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()


@dataclass
class SomePerson:
    """Answers each question alike, and keeps them."""

    answer: bool = True
    asked: list[tuple[str, tuple[str, ...], str]] = field(default_factory=list)

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        raise AssertionError("nobody is asked this")

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        self.asked.append((what, lines, why))
        return self.answer


@dataclass
class Driven:
    """A browser, as a model has it."""

    browser: Browser
    permissions: Permissions
    person: SomePerson
    web: SmallWeb
    workspace: Path
    noted: list[Transfer]

    async def __call__(self, name: str, **given: str) -> str:
        return (await self.done(name, **given)).text

    async def done(self, name: str, **given: str) -> Done:
        nothing: Any = None
        context = ToolContext("run", nothing, nothing, nothing, person=self.person)
        return await Operations(self.browser, context).perform(name, given)

    async def show(self, html: str, path: str = "/", **pages: str) -> str:
        """Open a page with this in it."""
        self.web.pages[path] = html
        return await self("open", url=self.web.at(path))


def bubblewrap() -> Sandbox:
    needed("chromium")
    found = next((each for each in candidates() if each.kind == "bubblewrap"), None)
    return found or lacking("a browser needs bubblewrap")


@asynccontextmanager
async def driven(
    folder: Path,
    web: SmallWeb,
    mode: Mode = "ask",
    sandbox: Sandbox | None = None,
    profile: str = "person",
    whereabouts: Whereabouts | None = None,
    looks: Looks | None = None,
) -> AsyncIterator[Driven]:
    confining = sandbox or bubblewrap()
    permissions = Permissions(mode=mode)
    workspace = folder / f"workspace-{profile}"
    workspace.mkdir(exist_ok=True, parents=True)
    noted: list[Transfer] = []

    async def note(run: str, passages: Iterable[Transfer]) -> None:
        noted.extend(passages)

    browser = Browser(
        BrowserPlace(
            folder / profile,
            lambda: confining,
            lambda: workspace,
            Leases(permissions),
            note,
            whereabouts or web,
            looks=lambda: looks or Looks(),
        )
    )
    try:
        yield Driven(browser, permissions, SomePerson(), web, workspace, noted)
    finally:
        await browser.close()


def below(pid: int) -> list[int]:
    """Every process that it started, and those that they did."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        inner = children.get(waiting.pop(), [])
        found += inner
        waiting += inner
    return found

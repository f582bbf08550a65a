"""A model hub on loopback that speaks as the real one does, and misbehaves on request.

Small files come from the hub itself; large ones are handed on to a second server, as the real hub
hands on to where it keeps them.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from urllib.parse import unquote, urlsplit

COMMIT = "1234567890abcdef1234567890abcdef12345678"


@dataclass
class Asked:
    """A request that came in."""

    server: str
    path: str
    range: str
    authorization: str


@dataclass
class HubDouble:
    """What the hub holds and how it behaves."""

    commit: str = COMMIT
    licence: str = "mit"
    large_bytes: int = 1_000
    """Files from this size on are kept on the second server and known by their SHA-256."""
    page: int = 1_000
    """Files on one page of a list."""
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    swapped: dict[str, bytes] = field(default_factory=dict)
    """Content given instead of what the list promises, by path."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes each next answer of the second server breaks off."""
    ranges: bool = True
    """Whether it honours the wish to begin further on."""
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers of the hub, before it answers as it should."""
    asked: list[Asked] = field(default_factory=list)
    address: str = ""
    storage: str = ""

    def content_requests(self) -> list[Asked]:
        return [one for one in self.asked if one.server == "storage"]


def git_name(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def running() -> Iterator[HubDouble]:
    """The hub, and the server where it keeps large files."""
    double = HubDouble()
    with _served(double, "hub") as port, _served(double, "storage") as storage_port:
        double.address = f"http://127.0.0.1:{port}"
        # Another name than the hub's, where this machine knows one: the token is for the hub alone.
        hosts = Path("/etc/hosts")
        known = hosts.exists() and "localhost" in hosts.read_text(encoding="utf-8")
        double.storage = f"http://{'localhost' if known else '127.0.0.1'}:{storage_port}"
        yield double


class _Listener(ThreadingHTTPServer):
    def server_bind(self) -> None:
        """Bind, and ask nobody for the name of the address."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


@contextmanager
def _served(double: HubDouble, name: str) -> Iterator[int]:
    class Handler(_Handler):
        hub = double
        server_name = name

    server = _Listener(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: HubDouble
    server_name: str

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (its base's name)
        """Nobody reads it."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(
            Asked(
                self.server_name,
                path,
                self.headers.get("Range", ""),
                self.headers.get("Authorization", ""),
            )
        )
        with suppress(BrokenPipeError, ConnectionResetError):
            if self.server_name == "storage":
                self._content(path)
            elif self.hub.statuses:
                self._plain(self.hub.statuses.pop(0), b"")
            elif path.startswith("/api/models/"):
                self._about(path.removeprefix("/api/models/"))
            else:
                self._resolve(path)

    def _about(self, path: str) -> None:
        owner, name, what, commit, *folder = path.split("/")
        files = self.hub.repositories.get(f"{owner}/{name}")
        if files is None:
            self._plain(404, b"{}")
        elif what == "revision":
            card = {"license": self.hub.licence}
            self._json({"id": f"{owner}/{name}", "sha": self.hub.commit, "cardData": card})
        elif commit == self.hub.commit:
            self._tree(files, "/".join(folder))

    def _tree(self, files: dict[str, bytes], folder: str) -> None:
        start = int(urlsplit(self.path).query.removeprefix("cursor=") or 0)
        inside = [path for path in files if path.rpartition("/")[0] == folder]
        records: list[dict[str, object]] = [
            {"type": "directory", "oid": "0", "size": 0, "path": "images"}
        ]
        for path in inside[start : start + self.hub.page]:
            content = files[path]
            record: dict[str, object] = {
                "type": "file",
                "oid": git_name(content),
                "size": len(content),
                "path": path,
            }
            if len(content) >= self.hub.large_bytes:
                digest = hashlib.sha256(content).hexdigest()
                record["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 134}
            records.append(record)
        following = ""
        if start + self.hub.page < len(inside):
            place = f"{self.hub.address}{urlsplit(self.path).path}"
            following = f'<{place}?cursor={start + self.hub.page}>; rel="next"'
        self._json(records, following)

    def _resolve(self, path: str) -> None:
        owner, name, resolve, commit, *rest = path.removeprefix("/").split("/")
        file = "/".join(rest)
        content = self.hub.repositories.get(f"{owner}/{name}", {}).get(file)
        if content is None or (resolve, commit) != ("resolve", self.hub.commit):
            self._plain(404, b"")
        elif len(content) >= self.hub.large_bytes:
            self.send_response(302)
            self.send_header("Location", f"{self.hub.storage}/{owner}/{name}/{file}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._plain(200, self.hub.swapped.get(file, content))

    def _content(self, path: str) -> None:
        owner, name, *rest = path.removeprefix("/").split("/")
        file = "/".join(rest)
        content = self.hub.swapped.get(file, self.hub.repositories[f"{owner}/{name}"][file])
        wanted = self.headers.get("Range", "")
        start = int(wanted.removeprefix("bytes=").removesuffix("-") or 0) if wanted else 0
        if wanted and self.hub.ranges:
            if start >= len(content):
                self._plain(416, b"")
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            start = 0
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        given = content[start:]
        if self.hub.cuts:
            given = given[: self.hub.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(given)

    def _json(self, record: object, link: str = "") -> None:
        self._plain(200, json.dumps(record).encode(), link)

    def _plain(self, status: int, body: bytes, link: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if link:
            self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(body)

"""A git server over HTTPS on loopback, with a password: what a forge is to git."""

import base64
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sayso.server.trust.certificates import identity
from tests.git import git

USER, PASSWORD = "ann", "pear-tree-7"


@dataclass
class HttpsRemote:
    """It runs."""

    port: int
    authority: Path
    """The certificate that vouches for it."""
    root: Path
    asked: list[tuple[str, bool]] = field(default_factory=list)
    """Each request's path, and whether it brought the password."""
    leads_to: str = ""
    """Requests are sent on to there."""

    def url(self, name: str, *, user: str = "") -> str:
        return f"https://{f'{user}@' if user else ''}127.0.0.1:{self.port}/{name}"

    def bare(self, name: str) -> Path:
        """A new repository to be sent to."""
        place = self.root / name
        git("init", "-q", "--bare", "-b", "main", str(place), folder=self.root)
        git("config", "http.receivepack", "true", folder=place)
        return place


@contextmanager
def https_remote(folder: Path) -> Iterator[HttpsRemote]:
    """Serve repositories of a new folder."""
    root, certificates = folder / "served", folder / "certificates"
    root.mkdir()
    context = identity(certificates, ()).context
    backend = Path(git("--exec-path", folder=folder).strip()) / "git-http-backend"
    remote = HttpsRemote(0, certificates / "authority.pem", root)
    expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path, _, query = self.path.partition("?")
            known = self.headers.get("Authorization", "") == f"Basic {expected}"
            remote.asked.append((path, known))
            if remote.leads_to:
                self._say(302, {"Location": f"{remote.leads_to}{self.path}"}, b"")
                return
            if not known:
                self._say(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = subprocess.run(
                [backend],
                input=body,
                capture_output=True,
                check=True,
                env={
                    "PATH": "/usr/bin:/bin",
                    "GIT_PROJECT_ROOT": str(root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_CONFIG_COUNT": "1",
                    "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "REMOTE_USER": USER,
                },
            ).stdout
            head, _, content = said.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            status = int(fields.pop("Status", "200").split()[0])
            self._say(status, fields, content)

        def _say(self, status: int, fields: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in {**fields, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 (the library's names)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    remote.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield remote
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

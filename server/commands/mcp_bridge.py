"""`sayso mcp serve`: lets a program that starts MCP servers as commands talk with the server that
runs here. It passes messages on between its standard streams and the server's `/mcp`.
"""

import http.client
import json
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from sayso.protocol.errors import HomeError
from sayso.protocol.home import Home, read_token
from sayso.protocol.own_server import OwnServerConnection

LINE_MOST_BYTES: Final = 1_048_576
"""Of one message, as the server takes them."""
CONNECT_S: Final = 10.0
ANSWER_S: Final = 60.0
"""Without a sign of life; the server gives one every few seconds while it works."""

INTERNAL_ERROR: Final = -32_603

NOT_RUNNING: Final = "Sayso does not run on this machine; start it with `sayso serve`."
NOT_ANSWERED: Final = (
    "Sayso does not answer MCP here; set `sayso settings set adapters.mcp true` and start it again."
)

PROGRAM: Final = "X-Sayso-Program"
"""The header that tells programs of one key apart."""


class McpBridge:
    """Passes on the messages of one program."""

    def __init__(self, home: Home, host: str, port: int, write: Callable[[bytes], object]) -> None:
        """`write`: takes one message, with the end of its line."""
        self._home = home
        self._where = host, port
        self._write = write
        self._program = secrets.token_hex(8)
        self._one_at_a_time = threading.Lock()

    def run(self, lines: BinaryIO) -> None:
        """Pass on what comes, until it ends; what is asked in parallel is answered so."""
        threads: list[threading.Thread] = []
        while line := lines.readline(LINE_MOST_BYTES):
            if not line.strip():
                continue
            thread = threading.Thread(target=self.pass_on, args=(line,), daemon=True)
            thread.start()
            threads = [*(each for each in threads if each.is_alive()), thread]
            if b'"initialize"' in line:
                thread.join()  # nothing may come before its answer

    def pass_on(self, line: bytes) -> None:
        """Have one message answered."""
        try:
            for message in self._answers(line):
                self._say(message)
        except HomeError as error:
            self._fail(line, str(error))
        except (OSError, http.client.HTTPException) as error:
            refused = isinstance(error, ConnectionRefusedError)
            self._fail(line, NOT_RUNNING if refused else f"Sayso did not answer ({error}).")

    def _answers(self, line: bytes) -> Iterator[bytes]:
        connection = OwnServerConnection(*self._where, timeout=CONNECT_S)
        try:
            connection.connect()
            connection.sock.settimeout(ANSWER_S)
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {read_token(self._home) or ''}",
                PROGRAM: self._program,
            }
            connection.request("POST", "/mcp", line, headers)
            response = connection.getresponse()
            kind = response.headers.get_content_type()
            if response.status >= 300:  # noqa: PLR2004 - not done
                why = response.read(500).decode(errors="replace").strip()
                missing = response.status == http.client.NOT_FOUND
                self._fail(line, NOT_ANSWERED if missing else why)
            elif kind == "text/event-stream":
                while row := response.readline():
                    if row.startswith(b"data:"):
                        yield row.removeprefix(b"data:").strip()
            elif body := response.read().strip():
                yield body
        finally:
            connection.close()

    def _say(self, message: bytes) -> None:
        with self._one_at_a_time:
            self._write(message + b"\n")

    def _fail(self, line: bytes, why: str) -> None:
        try:
            wanted = json.loads(line)
        except ValueError:
            return
        if isinstance(wanted, dict) and "id" in wanted and "method" in wanted:
            problem = {"code": INTERNAL_ERROR, "message": why}
            told = {"jsonrpc": "2.0", "id": wanted["id"], "error": problem}
            self._say(json.dumps(told).encode())


def serve(home: Home, host: str, port: int) -> int:
    """Until standard input ends."""

    def write(message: bytes) -> None:
        sys.stdout.buffer.write(message)
        sys.stdout.buffer.flush()

    McpBridge(home, host, port, write).run(sys.stdin.buffer)
    return 0

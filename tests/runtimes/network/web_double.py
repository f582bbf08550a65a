"""A small web on loopback, and where its hosts are said to be: public, for once."""

import asyncio
import base64
import hashlib
import io
import zipfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sayso.server.runtimes.network.addresses import Unreachable


@dataclass
class Web:
    """Serves pages by path, at every host of `known`."""

    port: int = 0
    known: set[str] = field(default_factory=lambda: {"files.example.org", "other.example.net"})
    pages: dict[str, bytes] = field(default_factory=lambda: {"/": b"hello from outside"})
    heads: list[str] = field(default_factory=list)
    """What was asked of it."""
    looked_up: list[str] = field(default_factory=list)

    async def find(self, host: str, port: int) -> Sequence[str]:
        """The seam for names: its own hosts are here, others nowhere."""
        self.looked_up.append(host)
        if host not in self.known:
            raise Unreachable(f"{host} is not known")
        return ("127.0.0.1",)

    def is_outside(self, address: str) -> bool:
        """Loopback is outside, for once."""
        return True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            body = self.pages.get(head.split(" ")[1])
            status = "404 Not Found" if body is None else "200 OK"
            body = body or b""
            headers = (
                f"Content-Length: {len(body)}\r\nContent-Type: text/html\r\nConnection: close\r\n"
            )
            writer.write(f"HTTP/1.1 {status}\r\n{headers}\r\n".encode() + body)
            await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def web() -> AsyncIterator[Web]:
    made = Web()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


def package(name: str) -> tuple[str, bytes]:
    """The file name of a wheel with one module, and the wheel."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "greeting = 'installed'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text)}\n"
    record += f"{info}/RECORD,,\n"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as wheel:
        for path, text in (*files.items(), (f"{info}/RECORD", record)):
            wheel.writestr(path, text)
    return f"{name}-1.0-py3-none-any.whl", made.getvalue()

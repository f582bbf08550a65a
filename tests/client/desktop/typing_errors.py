"""Types random Unicode into real programs of several toolkits, and counts what differs there."""

import asyncio
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.client.desktop.rig import (
    HERE,
    SYSTEM_PYTHON,
    App,
    Desktop,
    Hands,
    effect,
    until,
)

STRINGS: Final = 200
AT_ONCE: Final = 10
SETTLED_S: Final = 5.0
_RANGES: Final = (
    (0x21, 0x7E), (0x21, 0x7E), (0xA1, 0xAC), (0xAE, 0x17F), (0x391, 0x3A1), (0x3B1, 0x3C9),
    (0x410, 0x44F), (0x5D0, 0x5EA), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2018, 0x201E), (0x1F600, 0x1F64F),
)  # fmt: skip


def strings(count: int = STRINGS, seed: int = 1) -> list[str]:
    """Random ones of one to sixteen characters, of several scripts each."""
    chance = random.Random(seed)
    return [
        "".join(chr(chance.randint(*chance.choice(_RANGES))) for _ in range(chance.randint(1, 16)))
        for _ in range(count)
    ]


async def typing_errors(at: Hands, app: Any, texts: list[str]) -> int:  # noqa: ANN401 - a window
    """How many of these texts do not stand in the window as they were typed."""
    for start in range(0, len(texts), AT_ONCE):
        text = "".join(f"{each}\n" for each in texts[start : start + AT_ONCE])
        told = await at.act("write", text=text, window=app.title)
        if asked := told.message["data"].get("asks"):
            told = await at.act("write", text=text, window=app.title, approved=[asked])
        if effect(told) == "refused":
            return len(texts)
    wanted = "".join(f"{each}\n" for each in texts)
    deadline = asyncio.get_running_loop().time() + SETTLED_S
    while app.state.get("text") != wanted:
        if asyncio.get_running_loop().time() > deadline:
            break
        await asyncio.sleep(0.05)
    got = str(app.state.get("text", "")).split("\n")
    got += [""] * (len(texts) - len(got))
    return sum(mine != theirs for mine, theirs in zip(texts, got, strict=False))


def toolkits() -> list[str]:
    """Those that are here."""
    found = ["gtk"]
    for name, module in (("tk", "tkinter"), ("qt", "PyQt5.QtWidgets")):
        command = [SYSTEM_PYTHON, "-c", f"import {module}"]
        if not subprocess.run(command, capture_output=True, check=False).returncode:
            found.append(name)
    return [*found, *(["chromium"] if shutil.which("chromium") else [])]


@contextmanager
def window_of(here: Desktop, toolkit: str) -> Iterator[Any]:
    """A window to type into, of a program of this toolkit."""
    match toolkit:
        case "gtk":
            app = here.open_gtk("Typing in gtk")
            yield app
            app.close()
        case "chromium":
            with _page() as page:
                process = here.start(*page.command(here))
                here.shows(page.title, 60)
                until(lambda: "text" in page.state, "the page is open", 60)
                yield page
                process.terminate()
                process.wait()
        case _:
            title = f"Typing in {toolkit}"
            state = here.folder / f"{title}.json"
            state.unlink(missing_ok=True)
            program = str(HERE / f"{toolkit}_app.py")
            process = here.start(SYSTEM_PYTHON, program, str(state), title)
            app = App(title, state, process)
            here.shows(title)
            yield app
            app.close()


@dataclass
class _Page:
    """A page that tells what stands in its field."""

    port: int
    state: dict[str, str]
    title: str = "Typing in a page"

    def command(self, here: Desktop) -> list[str]:
        folder = here.folder / "chromium"
        options = "no-sandbox no-first-run disable-gpu force-renderer-accessibility"
        options += " password-store=basic disable-background-networking no-proxy-server"
        options += f" user-data-dir={folder} app=http://127.0.0.1:{self.port}/"
        alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        return ["chromium", alone, *(f"--{each}" for each in options.split())]


_HTML: Final = (
    "<meta charset=utf-8><title>Typing in a page</title><textarea autofocus rows=8 cols=60 "
    "aria-label=Text></textarea><script>const t=document.querySelector('textarea');"
    "const tell=()=>fetch('/',{method:'POST',body:t.value});t.oninput=tell;tell();t.focus()"
    "</script>"
)


@contextmanager
def _page() -> Iterator[_Page]:
    state: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(_HTML.encode())

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            state["text"] = self.rfile.read(length).decode()
            self._send(b"")

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield _Page(server.server_port, state)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

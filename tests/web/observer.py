"""A real browser whose look-ups of names and connections are all recorded.

The names of the hosts under `leak.test` lead to a listener on loopback, by way of names that the
browser itself knows to be this machine: so a look-up that no connection follows (`dns-prefetch`, a
link in sight) is in the browser's own log of the network, and nothing leaves the machine.
"""

import os
import re
import socketserver
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from tests.web.browser import chromium

QUIET = (
    "--no-sandbox",  # tests may run as root
    "--no-proxy-server",
    "--disable-sync",
    "--no-first-run",
)
LOUD = ("--disable-background-networking", "--disable-extensions")
"""What playwright switches off, and with it the looking up of hosts ahead of their time."""


@dataclass
class Observed:
    """A page, and once it is closed the hosts that its browser wanted."""

    page: Page
    log: Path
    hosts: frozenset[str] = frozenset()

    def close(self) -> None:
        """Read what happened; before that the log tells how the browser was started."""
        happened = self.log.read_text(errors="replace").partition('"events": [')[2]
        assert happened
        self.hosts = frozenset(re.findall(r"([\w-]+)\.(?:leak\.test|localhost)\b", happened))


class _Refuser(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        """Nobody is answered: that somebody came is in the browser's log."""


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


@contextmanager
def _listener() -> Iterator[int]:
    with _Listener(("127.0.0.1", 0), _Refuser) as server:
        thread = threading.Thread(target=server.serve_forever, name="listener")
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@contextmanager
def observed(names: Iterable[str]) -> Iterator[Observed]:
    """A browser that can reach `NAME.leak.test`; afterwards it is known which it wanted."""
    with _listener() as port, TemporaryDirectory() as home, sync_playwright() as playwright:
        rules = [f"MAP {name}.leak.test {name}.localhost:{port}" for name in names]
        rules += ["MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1", "EXCLUDE *.localhost"]
        log = Path(home) / "network.json"
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        context = playwright.chromium.launch_persistent_context(
            Path(home) / "profile",
            executable_path=chromium(),
            ignore_default_args=list(LOUD),
            args=[
                *QUIET,
                f"--host-resolver-rules={', '.join(rules)}",
                f"--log-net-log={log}",
                "--net-log-capture-mode=Everything",
            ],
            env={**os.environ, **own},
        )
        seen = Observed(context.pages[0], log)
        try:
            yield seen
        finally:
            context.close()
            seen.close()

"""A server that answers programs, and the keys of some: what the tests of all adapters share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import Scope
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel

WAIT_S = 60.0
"""For an answer on a busy machine."""


class Site:
    """Each adapter's tests add how its programs call."""

    def __init__(self, server: Server, model: ScriptedModel, keys: dict[str, str]) -> None:
        self.server = server
        self.model = model
        self.keys = keys
        """Of a program that only talks, of two that may approve, and of another person's."""

    @classmethod
    @contextmanager
    def opened(
        cls, home: Path, adapter: str, approving: tuple[Scope, ...] = ("talk", "approve")
    ) -> Iterator[Self]:
        """A server with this adapter switched on. `approving`: what the second program may."""
        lend_kernels(home)
        (home / "settings.toml").write_text(f"[adapters]\n{adapter} = true\n")
        devices = Devices(Home(home, home, home).state / "devices.json")
        keys = {
            "talking": devices.add("Notes", "", ("talk",))[1],
            "approving": devices.add("Open WebUI", "", approving)[1],
            "writing": devices.add("Writer", "", ("talk", "approve"))[1],
            "guest": devices.add("Anna's", "Anna", ("talk", "approve"))[1],
        }
        with ScriptedModel() as model, Server(home, model) as server:
            with (home / "settings.toml").open("a") as settings:
                settings.write(f"[listen]\nport = {server.port}\n")  # where commands look for it
            yield cls(server, model, keys)

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.port}{path}"

    def begin(self) -> None:
        """Before each test: nothing is scripted, and nothing was asked."""
        self.model.forget()
        self.model.requests.clear()

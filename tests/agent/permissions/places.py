"""Shared by doubles of the code runner: nothing was granted, and nothing used the network."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network.proxy import Permission
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.programs.programs import Programs
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.runtime import Ending, Output


class Ungranted:
    """Takes any reach, and has no variables to lose."""

    aliases: Mapping[str, str] = {}
    reach = Grants()
    at_hand = ""
    identity: Identity | None = None
    ended_commands: Sequence[str] = ()
    programs = Programs(Grants, lambda _: None, Path("/nowhere"))

    async def set_reach(self, reach: Grants) -> bool:
        self.reach = reach
        return False

    def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        raise NotImplementedError

    def run_alone(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        return self.run(language, code)

    def set_aside(self, language: str) -> bool:
        return True

    def offering(self, run: str, functions: Sequence[CallFunction]) -> AbstractContextManager[None]:
        return nullcontext()

    def heed(self, permission: Permission) -> None:
        pass

    async def file_host(self, index: str) -> str:
        return ""

    def take_passages(self) -> Sequence[Transfer]:
        return ()


class Described(Ungranted):
    """A place that is only described."""

    where = "/home/ann/sayso"

    def __init__(self, *languages: str, refusal: str = "") -> None:
        self.languages = languages
        self.refusal = refusal

    def may_touch(self, language: str) -> tuple[str, ...]:
        return ()

    def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        raise AssertionError("nothing runs here")

"""A server for a test to kill in the middle of a run: `python -m … FOLDER SANDBOX MARK`.

Somebody asks for something, and the code that comes of it sets up what git would run unasked; it
says so, and runs on.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.turn.effects import Send
from sayso.server.turn.events import ApprovalAnswered, Joined, Ticket, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.runtimes.sandboxes import KINDS, sandbox_of
from tests.server.running_server import running_server

ARMING = """
```python
import contextlib, os, pathlib, time

def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\\ntouch '{mark}'\\n")
    path.chmod(0o755)

for git in (pathlib.Path("mine/.git"), pathlib.Path("codes/.git")):
    for name in ("objects", "refs/heads", "hooks"):
        (git / name).mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        (git / "HEAD").write_text("ref: refs/heads/main\\n")
    for hook in ("pre-commit", "commit-msg", "post-checkout"):
        with contextlib.suppress(OSError):
            program(git / "hooks" / hook)
    with contextlib.suppress(OSError):
        settings = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch '{mark}'\\n"
        (git / "config").write_text(settings)
pathlib.Path("notes").write_text("overwritten")
print("armed", flush=True)
time.sleep(600)
```
"""


class Arming(PlainModel):
    """A language model that has it written."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return ARMING.replace("{mark}", self._mark)


class Person:
    """Says yes, and tells what code prints."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[m.FromServer] = asyncio.Queue()

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        self.heard.put_nowait(message)

    def send(self, speech: Send) -> None:
        pass


class Code:
    """Where code runs, in one kind of sandbox."""

    def __init__(self, kind: str) -> None:
        self._sandbox = next(sandbox_of(each) for each in KINDS if each == kind)

    def __call__(self, place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        assert not isinstance(self._sandbox, str)
        report = SandboxReport(True, self._sandbox.kind, sandbox=self._sandbox)
        return CodeRunner(place, ensure(lent_home()), report, reach)


async def main(folder: Path, kind: str, mark: str) -> None:
    async with running_server(folder, model=Arming(mark), code_runner=Code(kind)) as server:
        here = await server.conversations.enter(await server.conversations.latest())
        person = Person()
        here.conversation.join(Joined("desk", speaks=False), person)
        here.conversation.happened(Typed("desk", "arm it"))
        while True:
            match await person.heard.get():
                case m.ApprovalRequest(id=asked, nonce=nonce):
                    here.conversation.happened(ApprovalAnswered("desk", asked, nonce, "yes", None))
                case m.CodeOut(text=text) | m.CodeEnd(detail=text):
                    sys.stdout.write(f"{text.strip()}\n")
                    sys.stdout.flush()
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))

"""The tool `publish`: sends a branch to a remote, and opens a pull request, on the person's tap.

The question names the branch, the commit and the address; that is what is sent, and nothing else.
Passwords and keys stay outside of the sandbox.
"""

import asyncio
import contextlib
import secrets
import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext
from sayso.server.capabilities.git.remote import (
    RemoteError,
    checked_branch,
    checked_url,
    compare_address,
    remote_url,
)
from sayso.server.capabilities.git.repository_files import RepositoryFiles
from sayso.server.capabilities.git.sending import (
    SendingError,
    open_pull_request,
    remove,
    send,
    take_bundle,
)
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.runtime import Ending, Output

NAME: Final = "publish"

_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "branch": {"type": "string"},
        "remote": {"type": "string"},
        "folder": {"type": "string"},
        "title": {"type": "string"},
        "body": {"type": "string"},
        "commit": {"type": "string"},
        "url": {"type": "string"},
    },
    "additionalProperties": False,
}


class Publish(Tool):
    """Sends branches for one conversation."""

    name = NAME
    use = (
        "Send the current branch (or this one) of a git repository to its remote, origin if none "
        "is named; with a title, open a pull request. The person taps to allow it. Never forced."
    )
    schema = _SCHEMA
    undo = "what was sent cannot be taken back here"
    outside = True
    needs_code = True
    ways = frozenset({"call", "fence"})

    def __init__(self, code_runner: Callable[[], CodeRunner]) -> None:
        self._code_runner = code_runner

    def read(self, label: str, text: str) -> Arguments:
        """The whole of it: branch, commit and address are filled in, so that they are shown and
        approved."""
        given = dict(super().read(label, text))
        try:
            return self._filled_in(given)
        except RemoteError as problem:
            raise ArgumentsError(str(problem)) from None

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        what = f"send the branch {arguments['branch']} at {arguments['commit'][:12]}"
        request = (f"open a pull request “{arguments['title']}”",) if "title" in arguments else ()
        return (f"{what} to {arguments['url']}, with your own passwords and keys", *request)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        clock = asyncio.get_running_loop().time
        began, bundle = clock(), None
        url, branch, commit = arguments["url"], arguments["branch"], arguments["commit"]
        try:
            if checked_url(url, self._writable) != url:
                raise RemoteError(f"{url} leads elsewhere now; ask again.")  # noqa: TRY301
            bundle = await self._bundled(self._repository(arguments).path, commit)
            sent = await send(bundle, commit, url, branch)
            yield Output("stdout", f"{sent.said}\n")
            async for line in _pull_request(arguments, bundle):
                yield Output("stdout", f"{line}\n")
        except (RemoteError, SendingError) as problem:
            yield Ending("error", clock() - began, f"It was not sent. {problem}")
        else:
            yield Ending("ok", clock() - began)
        finally:
            if bundle:
                await asyncio.to_thread(remove, bundle)

    @property
    def _writable(self) -> tuple[Path, ...]:
        runner = self._code_runner()
        return runner.reach.writable(Path(runner.where))

    def _repository(self, arguments: Arguments) -> RepositoryFiles:
        """The repository that is meant, where code may write. Raises RemoteError."""
        where = Path(self._code_runner().where)
        folder = str(arguments.get("folder", "."))
        try:
            return RepositoryFiles(where, tuple(dict.fromkeys((where, *self._writable))), folder)
        except OSError:
            raise RemoteError(
                f"{where / folder} is in no git repository that code works in."
            ) from None

    def _filled_in(self, given: dict[str, Any]) -> Arguments:
        repository = self._repository(given)
        branch = str(given.get("branch") or repository.branch)
        if not branch:
            raise RemoteError("No branch is checked out; name the one to send.")
        given["branch"] = checked_branch(branch)
        given.setdefault("remote", "origin")
        url = checked_url(remote_url(repository.settings, str(given["remote"])), self._writable)
        if given.setdefault("url", url) != url:
            raise RemoteError(f"The remote {given['remote']} leads to {url} now; ask again.")
        commit = repository.commit(branch)
        if not commit:
            raise RemoteError(f"There is no branch {branch} with a commit.")
        if given.setdefault("commit", commit) != commit:
            raise RemoteError(f"The branch {branch} is at {commit[:12]} now; ask again.")
        return given

    async def _bundled(self, repository: Path, commit: str) -> Path:
        """All that leads to a commit, taken out of the sandbox. Raises SendingError."""
        runner = self._code_runner()
        name = f".sayso-sending-{secrets.token_hex(8)}"
        place = Path(runner.where) / name
        # A bundle has names: HEAD of a copy that shares the objects, and changes nothing here.
        script = (
            f"cd -- {shlex.quote(str(repository))} && t=$(mktemp -d) &&"
            f' git clone -q --bare --shared --template= . "$t/c" && cd "$t/c" &&'
            f" git update-ref --no-deref HEAD {commit} &&"
            f' git bundle create -q {shlex.quote(str(place))} HEAD; rm -rf "$t"'
        )
        said = ""
        try:
            async with closing(runner.run_alone("bash", script)) as pieces:
                async for piece in pieces:
                    said += piece.text if isinstance(piece, Output) else ""
            if not place.exists():
                why = said.strip()[-400:] or "it could not be packed"
                raise SendingError(why)
            return await asyncio.to_thread(take_bundle, place)
        finally:
            with contextlib.suppress(OSError):
                place.unlink()


async def _pull_request(arguments: Arguments, bundle: Path) -> AsyncIterator[str]:
    """Open it if one was wanted, or say where a person opens it."""
    title, body = str(arguments.get("title", "")), str(arguments.get("body", ""))
    address = compare_address(arguments["url"], arguments["branch"])
    if title:
        try:
            yield await open_pull_request(
                bundle.parent, (title, body), arguments["url"], arguments["branch"]
            )
        except SendingError as problem:
            yield f"The branch was sent; the pull request was not opened: {problem}"
        else:
            return
    if address:
        yield f"A pull request is begun here: {address}"

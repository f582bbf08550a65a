"""The tool `publish`: sends a branch to a remote, and opens a pull request, on the person's tap.

The question names the branch, the commit and the address; that is what is sent, and nothing else.
Passwords and keys stay outside of the sandbox.
"""

import asyncio
import re
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

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF: Final = re.compile(r"ref: refs/heads/(\S+)\n?")

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
            checked_url(url, self._writable)
            bundle = await self._bundled(self._repository(arguments), commit)
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

    def _repository(self, arguments: Arguments) -> Path:
        """The repository that is meant, where code may write. Raises RemoteError."""
        where = Path(self._code_runner().where)
        named = where / str(arguments.get("folder", "."))
        for place in (named, *named.parents):
            if not any(place.is_relative_to(each) for each in (where, *self._writable)):
                break
            if (place / ".git").is_dir() and not (place / ".git").is_symlink():
                return place
        raise RemoteError(f"{named} is in no git repository that code works in.")

    def _filled_in(self, given: dict[str, Any]) -> Arguments:
        repository = self._repository(given)
        git = repository / ".git"
        if not given.get("branch"):
            head = _REF.fullmatch(_text(git / "HEAD"))
            if head is None:
                raise RemoteError("No branch is checked out; name the one to send.")
            given["branch"] = head[1]
        branch = checked_branch(str(given["branch"]))
        given.setdefault("remote", "origin")
        url = checked_url(remote_url(repository, str(given["remote"])), self._writable)
        if given.setdefault("url", url) != url:
            raise RemoteError(f"The remote {given['remote']} leads to {url} now; ask again.")
        commit = _commit_of(git, branch)
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
            place.unlink(missing_ok=True)


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


def _text(path: Path) -> str:
    try:
        if path.is_symlink() or path.stat().st_size > 4_096:  # noqa: PLR2004 (a line)
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _commit_of(git: Path, branch: str) -> str:
    """Where a branch is. Raises RemoteError."""
    loose = _text(git / "refs" / "heads" / branch).strip()
    if _COMMIT.fullmatch(loose):
        return loose
    try:
        packed = (git / "packed-refs").read_text(encoding="utf-8", errors="replace")[:4_000_000]
    except OSError:
        packed = ""
    for line in packed.splitlines():
        commit, _, name = line.partition(" ")
        if name == f"refs/heads/{branch}" and _COMMIT.fullmatch(commit):
            return commit
    raise RemoteError(f"There is no branch {branch} with a commit.")

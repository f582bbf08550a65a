"""Sends commits from a bare copy of Sayso's own, outside of the sandbox, as the person.

The commits come out of the sandbox as a bundle, so no program of the server ever works in the
repository that code may write to: neither its settings nor its hooks count. The copy has no hooks
and no settings; the person's own (their helpers for passwords, their ssh) are those of git. Nothing
is forced: what is not a continuation of what is there is refused by the other side, and said.
"""

import asyncio
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BUNDLE_MOST_BYTES: Final = 1_000_000_000
"""Of all that leads to the branch: a large project's whole history."""

SECONDS: Final = 300.0
"""For the sending: a large history over a slow line."""

_SAID_CHARS: Final = 2_000

_SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
)

_UNENCRYPTED: Final = "protocol.http.allow=always"
"""Only to an address of this machine that says so itself: no server may send on to one."""


class SendingError(Exception):
    """Nothing was sent; the message says why."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of it."""

    commit: str
    said: str
    """What the other side and git said."""


def take_bundle(path: Path) -> Path:
    """Take a file over from where code may write, which nobody changes from now on: a copy. Raises
    SendingError."""
    handle = -1
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > BUNDLE_MOST_BYTES:
            raise SendingError("What is to be sent is too much, or no file.")
        own = Path(tempfile.mkdtemp(prefix="sayso-sending-")) / "bundle"
        with os.fdopen(handle, "rb") as source, own.open("wb") as target:
            handle = -1
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise SendingError(f"What is to be sent cannot be read: {error.strerror}.") from None
    finally:
        if handle >= 0:
            os.close(handle)
    return own


async def send(bundle: Path, commit: str, url: str, branch: str) -> Sent:
    """Send the branch, which is to be at this commit, to an address. Raises SendingError."""
    copy = bundle.with_name("copy.git")
    await _git("init", "-q", "--bare", "--template=", str(copy), folder=bundle.parent)
    there = "refs/heads/sent"
    await _git("fetch", "-q", "--no-tags", str(bundle), f"+HEAD:{there}", folder=copy)
    found = (await _git("rev-parse", "--verify", there, folder=copy)).strip()
    if found != commit:
        raise SendingError("The branch is not at the commit that was approved; ask again.")
    open_too = (_UNENCRYPTED,) if url.startswith("http://") else ()
    said = await _git(
        "push", "--no-verify", "--porcelain", "--", url, f"{commit}:refs/heads/{branch}",
        folder=copy, settings=open_too,
    )  # fmt: skip
    return Sent(commit, said)


def remove(bundle: Path) -> None:
    """Forget the copy."""
    with contextlib.suppress(OSError):
        shutil.rmtree(bundle.parent)


async def open_pull_request(folder: Path, words: Sequence[str], url: str, branch: str) -> str:
    """Open one by `gh`, where that is installed; what it said. Raises SendingError."""
    program = shutil.which("gh")
    if program is None:
        raise SendingError("gh is not installed.")
    title, body = words
    argv = [program, "pr", "create", "--repo", url, "--head", branch]
    return await _run([*argv, "--title", title, "--body", body], folder, _environment())


async def _git(*words: str, folder: Path, settings: Sequence[str] = ()) -> str:
    git = shutil.which("git")
    if git is None:
        raise SendingError("git is not installed here.")
    options = [part for setting in (*_SETTINGS, *settings) for part in ("-c", setting)]
    return await _run([git, *options, *words], folder, _environment())


def _environment() -> Mapping[str, str]:
    """The person's, without what another git left in it, and with nobody to be asked anything."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name == "GIT_CONFIG_GLOBAL"
    }
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "LC_ALL": "C.UTF-8"}


async def _run(argv: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        raise SendingError(f"It took longer than {SECONDS:.0f} seconds and was stopped.") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            await process.wait()
    said = out.decode(errors="replace").strip()
    if process.returncode:
        raise SendingError(said[-_SAID_CHARS:] or f"{argv[0]} failed.")
    return said[-_SAID_CHARS:]

"""Serves requests over a socket: a length and JSON in, lengths and JSON out, the last with `end`.

A request is an object with `do`, the name of what is to be done, and `roots`, the folders in reach.
What can't be done is answered with `refused`, a sentence.
"""

import json
import os
import resource
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .folders import Folders, PlaceError
from .git_look import GitLookError, git_look
from .patch_plan import Plan, hash_of, plan
from .patch_write import WriteError, write
from .project_tests import find_tests, run_tests
from .rename import RenameError, edit, rename
from .repo_map import outline, repo_map
from .search import SearchError, read, search

Request = Mapping[str, Any]
Answer = Mapping[str, Any]

_LENGTH = struct.Struct(">I")

ANSWER_MOST_BYTES = 3 * 1024**2
"""Less than the server takes in one message."""

MEMORY_BYTES = 1024**3
"""Of address space: a pattern or a file that wants more ends here, and says so."""


class RefusedError(Exception):
    """It was not done; the message is a sentence that says why."""


def serve(descriptor: int) -> None:
    """Answer requests until the server hangs up."""
    _bound_memory()
    os.set_inheritable(descriptor, False)
    link = socket.socket(fileno=descriptor)
    link.setblocking(True)
    while body := _taken(link):
        for message in answers(json.loads(body)):
            _give(link, message)


def _bound_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def answers(request: Request) -> Iterator[Answer]:
    """What is said about a request."""
    folders = Folders(request["roots"], request.get("home", ""))
    try:
        if request["do"] == "tests":
            yield from run_tests(request, folders)
            return
        yield {"end": True, **HANDLERS[request["do"]](request, folders)}
    except (
        RefusedError,
        GitLookError,
        PlaceError,
        RenameError,
        SearchError,
        WriteError,
    ) as problem:
        yield {"end": True, "refused": str(problem)}
    except MemoryError:
        yield {"end": True, "refused": "That takes more memory than there is for it."}
    except RecursionError:
        yield {"end": True, "refused": "That is nested too deep to be read."}
    finally:
        folders.close()


def _plan(request: Request, folders: Folders) -> Answer:
    return _told(plan(request["patch"], folders, request.get("seen", {})))


def _told(made: Plan) -> Answer:
    return {
        "diff": made.diff,
        "notes": made.notes,
        "problems": made.problems,
        "failed": made.failed,
        "seen": made.seen,
    }


def _apply(request: Request, folders: Folders) -> Answer:
    """Do what a patch says, if it is still what was shown."""
    made = plan(request["patch"], folders, {})
    if made.problems:
        raise RefusedError(f"It does not fit any more: {' '.join(made.problems)}")
    if "diff" in request and made.diff != request["diff"]:
        raise RefusedError("The files changed since this was shown, so nothing was done.")
    write(made.changes, folders)
    after = {
        folders.name_of(change.place): hash_of(change.after)
        for change in made.changes
        if change.after is not None
    }
    return {"notes": made.notes, "diff": made.diff, "seen": after}


HANDLERS: Mapping[str, Callable[[Request, Folders], Answer]] = {
    "plan": _plan,
    "apply": _apply,
    "read": read,
    "search": search,
    "outline": outline,
    "repo_map": repo_map,
    "edit": edit,
    "rename": rename,
    "find_tests": find_tests,
    "git": git_look,
}


def _taken(link: socket.socket) -> bytes:
    try:
        (length,) = _LENGTH.unpack(_exactly(link, _LENGTH.size))
        return _exactly(link, length)
    except EOFError:
        return b""


def _exactly(link: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = link.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _give(link: socket.socket, message: Answer) -> None:
    body = json.dumps(message).encode()
    if len(body) > ANSWER_MOST_BYTES:
        body = b'{"end": true, "refused": "That is more than can be shown at once; ask for less."}'
    link.sendall(_LENGTH.pack(len(body)) + body)

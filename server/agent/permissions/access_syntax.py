"""Parses the model's requests for more access. They are written in one more language: `access`.

    read ~/Downloads
    host api.a.org
    because the bill lies there

Lines that are no wish are its reason, which the person is shown as the model's words. Pure.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

LANGUAGE: Final = "access"

MOST: Final = 8
"""Wishes in one request: more cannot be weighed at a glance."""

WHY_CHARS: Final = 300
"""Of a reason: two sentences."""

_WISH: Final = re.compile(r"^[-*\s]*(read|write|host|hosts|network)\b[:\s]*(.*)$", re.IGNORECASE)
_BECAUSE: Final = re.compile(r"^(?:because|why|reason|for)\b[:\s]*", re.IGNORECASE)
_HOST: Final = re.compile(r"(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


class AccessError(Exception):
    """This is no request for access; the message tells the model how to write one."""


@dataclass(frozen=True, slots=True)
class RequestedFolder:
    """A folder or a file."""

    path: str
    """As the model names it."""
    access: Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """What is asked for."""

    places: tuple[RequestedFolder, ...] = ()
    hosts: tuple[str, ...] = ()
    network: bool = False
    """Every public host."""
    why: str = ""


def read_access_request(text: str) -> AccessRequest:
    """Understand a request. Raises AccessError."""
    places: list[RequestedFolder] = []
    hosts: list[str] = []
    reasons: list[str] = []
    network = False
    for line in filter(None, map(str.strip, text.splitlines())):
        access_request = _WISH.match(line)
        kind, what = (
            (access_request[1].lower(), access_request[2].strip()) if access_request else ("", line)
        )
        if kind in ("read", "write"):
            what, _, why = what.partition(" because ")
            reasons += [why] if why else []
            places.append(
                RequestedFolder(what.strip().strip("\"'`"), "read" if kind == "read" else "write")
            )
        elif kind in ("host", "hosts"):
            hosts += _hosts(what)
        elif kind == "network":
            network = True
        else:
            reasons.append(_BECAUSE.sub("", what))
    if not (places or hosts or network):
        raise AccessError(
            "This asks for nothing: write lines like `read ~/Downloads`, `write ~/Music` or"
            " `host example.org`, and then the reason."
        )
    if len(places) + len(hosts) > MOST:
        raise AccessError(f"This asks for too much at once: {MOST} folders and hosts at most.")
    return AccessRequest(
        tuple(places), tuple(hosts), network, " ".join(reasons)[:WHY_CHARS].strip()
    )


def _hosts(text: str) -> list[str]:
    found = []
    for word in re.split(r"[,\s]+", text.partition(" because ")[0].strip("\"'`")):
        host = word.lower().partition("://")[2] or word.lower()
        host = host.partition("/")[0].partition(":")[0].rstrip(".")
        if not _HOST.fullmatch(host) or "." not in host:
            raise AccessError(f"{word[:60]} is no host's name; write it like `host example.org`.")
        found.append(host)
    return found

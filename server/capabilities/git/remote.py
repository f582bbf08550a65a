"""Where a branch may be sent: the address of a remote, read as data and checked."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sayso.protocol.home import Home
from sayso.protocol.visible import revealed
from sayso.server.runtimes.protection.git_config import UnreadableConfig, parse

_SCP: Final = re.compile(r"(?:\w[\w.-]*@)?\w[\w.-]*:(?!//)[\w./~+-]+", re.ASCII)
"""`git@example.org:ann/project.git`. Letters of other alphabets look like these and are others."""

_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\]")

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_BRANCH: Final = re.compile(r"(?!.*(?:\.\.|@\{|//|\.lock(?:/|$)|/$|\.$|/\.))[\w][\w./+-]{0,200}")


class RemoteError(ValueError):
    """Nothing can be sent there; the message says why."""


def remote_url(settings: bytes | None, name: str) -> str:
    """The address that a repository's settings give a remote. Raises RemoteError."""
    try:
        parsed = parse(settings or b"")
    except UnreadableConfig:
        parsed = None
    if settings is None or parsed is None:
        raise RemoteError("The repository's settings cannot be read.")
    found = [
        each.value or ""
        for each in parsed
        if (each.section, each.subsection, each.name) == ("remote", name, "url")
    ]
    if not found:
        raise RemoteError(f"The repository has no remote called {name[:80]}.")
    return found[0]


def checked_url(url: str, writable: tuple[Path, ...]) -> str:
    """The same address, if something may be sent there, a folder's by its own path and no link;
    what lies where code may write (`writable`) could make the server run its hooks. Raises
    RemoteError."""
    if revealed(url) != url or any(sign.isspace() for sign in url):
        raise RemoteError("The remote's address has characters that cannot be shown.")
    if _SCP.fullmatch(url):
        return url
    parts = urlsplit(url)
    if parts.scheme == "file" or url.startswith("/"):
        return _checked_path(Path(parts.path), writable)
    host = parts.hostname or ""
    if parts.password:
        raise RemoteError("The remote's address has a password in it: take it out of there first.")
    named = _HOST.fullmatch(f"[{host}]" if ":" in host else host)
    if parts.scheme not in ("https", "ssh", "http") or not named:
        raise RemoteError(f"{url[:100]} is none of https, ssh, or a folder: it is not sent there.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise RemoteError(f"{url[:100]} is not encrypted: it is not sent there.")
    return url


def _checked_path(path: Path, writable: tuple[Path, ...]) -> str:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise RemoteError(f"There is no repository {path}.") from None
    for place in (*writable, Home.find().data):
        if real.is_relative_to(place) or place.is_relative_to(real):
            raise RemoteError(
                f"{path} lies where code may write, so what it holds could run outside of the"
                " sandbox: push to it from the sandbox, with git itself."
            )
    return str(real)


def checked_branch(name: str) -> str:
    """The same name, if it is a branch's. Raises RemoteError."""
    if not _BRANCH.fullmatch(name):
        raise RemoteError(f"{name[:80]} is no name of a branch.")
    return name


def compare_address(url: str, branch: str) -> str:
    """Where a pull request for the branch is begun on the web; empty where that is not known."""
    found = re.fullmatch(
        r"(?:https://|ssh://)?(?:[\w.-]+@)?(github\.com|gitlab\.com)[/:](.+?)(?:\.git)?/?", url
    )
    if not found:
        return ""
    host, project = found[1], found[2]
    if host == "github.com":
        return f"https://{host}/{project}/compare/{branch}?expand=1"
    wanted = f"merge_request%5Bsource_branch%5D={branch}"
    return f"https://{host}/{project}/-/merge_requests/new?{wanted}"

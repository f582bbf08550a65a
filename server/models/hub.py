"""The model hub: what a repository holds at one commit, and its files from any byte on.

httpx is used because it comes with litellm, honours proxies, and drops the authorization when it
is sent on to another host. The hub's own client library is not: it brings a cache of links, a
second download engine and reports of use, and it does not check what it fetched.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlsplit

import httpx

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.models.errors import FetchFailed, NameUnknown
from sayso.server.models.model import Digest

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
"""Without a byte for this long, a connection is dead."""

MAX_REDIRECTS = 5
"""A hub sends on once, to where it keeps large files."""

MAX_ANSWER_BYTES = 20_000_000
"""A list of ten thousand files is a tenth of this."""

MAX_PAGES = 100
"""Pages of one list of files; a model's folder fits on the first."""

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at one commit."""

    name: str
    commit: str
    licence: str


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository."""

    path: str
    bytes: int
    digest: Digest
    """The hub's own: SHA-256 for large files, git's name of the content for small ones."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Interrupted(Exception):
    """The connection ended or never began; it may be tried again."""


class Hub:
    """One hub. Use it as a context manager. Raises FetchFailed if the address is none."""

    def __init__(self, address: str, *, token: str = "") -> None:
        self._address = address.rstrip("/")
        parts = urlsplit(self._address)
        self._host = parts.netloc
        if parts.scheme not in {"https", "http"} or not parts.hostname:
            message = f"{address} is no address of a model hub; correct models.hub."
            raise FetchFailed(message)
        safe = parts.scheme == "https" or parts.hostname in LOOPBACK
        self._client = httpx.Client(
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            headers={"Authorization": f"Bearer {token}"} if token and safe else {},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    @property
    def address(self) -> str:
        return self._address

    def repository(self, name: str) -> Repository:
        """The repository as it is now. Raises Interrupted, NameUnknown, FetchFailed."""
        url = f"{self._address}/api/models/{quote(name)}/revision/main"
        record, _ = self._json(url, name)
        if not isinstance(record, dict) or not isinstance(record.get("sha"), str):
            raise self._nonsense(name)
        card = record.get("cardData")
        licence = card.get("license") if isinstance(card, dict) else None
        return Repository(name, record["sha"], licence if isinstance(licence, str) else "unknown")

    def files(self, repository: Repository, folder: str) -> list[HubFile]:
        """The files in one of its folders. Raises Interrupted, NameUnknown, FetchFailed."""
        url: str | None = (
            f"{self._address}/api/models/{quote(repository.name)}/tree/{repository.commit}"
            + (f"/{quote(folder)}" if folder else "")
        )
        found: list[HubFile] = []
        for _ in range(MAX_PAGES):
            if url is None:
                break
            records, url = self._json(url, repository.name)
            if not isinstance(records, list):
                raise self._nonsense(repository.name)
            try:
                found += [_file(one) for one in records if one["type"] == "file"]
            except (KeyError, TypeError) as error:
                raise self._nonsense(repository.name) from error
        return found

    @contextlib.contextmanager
    def content(
        self, repository: Repository, file: HubFile, start: int
    ) -> Iterator[tuple[int, Iterator[bytes]]]:
        """Where the content that comes begins (`start`, or 0 if it begins anew), and its blocks.

        Raises Interrupted (also while reading), NameUnknown, FetchFailed.
        """
        folder = f"{self._address}/{quote(repository.name)}/resolve/{repository.commit}"
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        with self._answer(f"{folder}/{quote(file.path)}", repository.name, headers) as answer:
            begins = start if _goes_on(answer, start, file.bytes) else 0
            yield begins, _blocks(answer)

    def _json(self, url: str, name: str) -> tuple[object, str | None]:
        """An answer's content, and the address of its next page."""
        raw = bytearray()
        with self._answer(url, name, {"Accept": "application/json"}) as answer:
            for block in _blocks(answer):
                raw += block
                if len(raw) > MAX_ANSWER_BYTES:
                    raise self._nonsense(name)
            following = answer.links.get("next", {}).get("url")
        if following and urlsplit(following).netloc != self._host:
            raise self._nonsense(name)
        try:
            return read_json(raw, most_bytes=MAX_ANSWER_BYTES), following
        except UntrustedJsonError as error:
            raise self._nonsense(name) from error

    @contextlib.contextmanager
    def _answer(self, url: str, name: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        try:
            with self._client.stream("GET", url, headers=headers) as answer:
                self._judge(answer, name)
                yield answer
        except (httpx.TransportError, httpx.TooManyRedirects) as error:
            raise Interrupted(_reason(error)) from error

    def _judge(self, answer: httpx.Response, name: str) -> None:
        status = answer.status_code
        if status in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
            return
        if status == HTTPStatus.NOT_FOUND:
            message = f"The model hub {self._host} has no {name}; check the name."
            raise NameUnknown(message)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            message = (
                f"The model hub {self._host} does not give {name} to everyone: check the name, or "
                f"accept the model's terms there and put your token into HF_TOKEN."
            )
            raise FetchFailed(message)
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            message = f"the hub answers {status}"
            raise Interrupted(message)
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            message = "the hub has less than was fetched"
            raise Interrupted(message)
        raise self._nonsense(name)

    def _nonsense(self, name: str) -> FetchFailed:
        return FetchFailed(
            f"{self._address} does not answer like a model hub when asked for {name}; "
            f"correct models.hub, or try again later."
        )


def _goes_on(answer: httpx.Response, start: int, size: int) -> bool:
    """Whether the answer continues at `start`, as asked."""
    if answer.status_code != HTTPStatus.PARTIAL_CONTENT:
        return False
    return bool(answer.headers.get("Content-Range") == f"bytes {start}-{size - 1}/{size}")


def _blocks(answer: httpx.Response) -> Iterator[bytes]:
    try:
        yield from answer.iter_bytes()  # as they come, so that a cut loses none
    except httpx.TransportError as error:
        raise Interrupted(_reason(error)) from error


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _file(record: Mapping[str, object]) -> HubFile:
    """Raises KeyError, TypeError if the record is no file's."""
    large = record.get("lfs")
    path, size = record["path"], record["size"]
    value = large["oid"] if isinstance(large, dict) else record["oid"]
    if not isinstance(path, str) or not isinstance(size, int) or not isinstance(value, str):
        raise TypeError(path)
    return HubFile(path, size, Digest("sha256" if large else "git-sha1", value))

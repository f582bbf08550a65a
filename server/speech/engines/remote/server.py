"""Asks a speech server over HTTP, and says in one sentence what went wrong.

Redirections are not followed: what is said, and the key, go where the person said and nowhere else.
"""

import asyncio
import contextlib
import logging
import math
import ssl
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.process import in_background
from sayso.server.speech.engines.remote.address import Address
from sayso.server.speech.errors import EngineMissing, ServerFailed

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

CONNECT_S: Final = 4.0
"""For a handshake; a person waits for it."""

SILENCE_S: Final = 30.0
"""Without a byte for so long, an answer does not come any more."""

MOST_CONNECTIONS: Final = 8
"""At once, to one server: those of several people who talk at the same time."""

KEPT_OPEN_S: Final = 30.0
"""For the next request, which then needs no handshake; many servers close after a minute."""

MOST_ANSWER_BYTES: Final = 1_000_000
"""Of a text or an error. A minute of speech with the time of each word takes a tenth."""

MOST_ERROR_BYTES: Final = 16_384
LONGEST_QUOTE: Final = 120
"""Characters of a server's own words: a sentence that can be spoken."""

LONGEST_PAUSE_S: Final = 3.0
"""A server that wants to be left alone for longer is not waited for: somebody waits already."""

OTHER_SHAPE: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.NOT_ACCEPTABLE,
    }
)
"""What a server answers that does not know what a request asks for."""


class ShapeRefused(ServerFailed):
    """The server does not take the request as it is; it may take it in another shape."""


@dataclass(frozen=True, slots=True)
class Access:
    """Which server, and how it knows who asks."""

    address: Address
    key_variable: str = ""
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, address: Address, variable: str, environment: Mapping[str, str]) -> "Access":
        """Raises EngineMissing if there is no key where one is said to be."""
        key = environment.get(variable, "").strip() if variable else ""
        if variable and not key:
            raise EngineMissing(
                f"{variable} is not set in the environment; put the API key there, or unset "
                f"{address.kind}.api_key_variable."
            )
        if not key.isascii() or not key.isprintable():
            raise EngineMissing(f"{variable} holds what is no API key; put a valid one there.")
        return cls(address, variable, key)


class SpeechServer:
    """One server. Connections are kept open from one request to the next."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._client: httpx.AsyncClient | None = None
        self._loading: asyncio.Task[httpx.AsyncClient] | None = None
        self.trouble = ""
        """Why the last request failed; empty if it did not."""

    @property
    def name(self) -> str:
        return self._access.address.name

    async def start(self) -> None:
        """Load what requests need; nothing is sent."""
        await self._ready()

    async def close(self) -> None:
        """Close all connections."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait({self._loading})
        if self._client is not None:
            await self._client.aclose()

    @contextlib.asynccontextmanager
    async def ask(
        self,
        method: str,
        path: str,
        *,
        silence_s: float = SILENCE_S,
        also_good: Collection[HTTPStatus] = (),
        **content: Any,  # noqa: ANN401 (httpx says what each may be)
    ) -> AsyncIterator["httpx.Response"]:
        """An answer that is good so far; its body comes as it is read. Leaving the block ends the
        request: what has not come yet is not waited for. Raises ServerFailed, also for what the
        block raises of the connection. `silence_s`: without a byte for so long, an answer does not
        come any more. `content` is that of `httpx.AsyncClient.build_request`."""
        client = await self._ready()
        try:
            base = await self._access.address.url()
            # A server that could be reached at another address is known by its name all the same.
            request = client.build_request(
                method,
                f"{base}{path}",
                headers={"host": self.name, **self._headers},
                extensions={"sni_hostname": self._access.address.host},
                timeout=(CONNECT_S, silence_s, silence_s, silence_s),
                **content,
            )
            with self._told():
                answer = await client.send(request, stream=True)
                try:
                    if answer.status_code not in also_good:
                        await self._judge(answer, path)
                    yield answer
                finally:
                    await answer.aclose()
        except ServerFailed as problem:
            self.trouble = str(problem)
            raise
        self.trouble = ""

    def nonsense(self) -> ServerFailed:
        """For an answer that is none."""
        key = f"{self._access.address.kind}.api_base"
        return ServerFailed(
            f"{self.name} does not answer like a speech server; check {key}, which mostly ends in "
            "/v1."
        )

    @property
    def _headers(self) -> Mapping[str, str]:
        key = self._access.key
        # What is not compressed cannot grow without bound on this side.
        return {"accept-encoding": "identity"} | ({"authorization": f"Bearer {key}"} if key else {})

    async def _ready(self) -> "httpx.AsyncClient":
        if self._client is None:
            if self._loading is None:
                self._loading = asyncio.create_task(
                    in_background(self._load, "loading httpx"), name="loading httpx"
                )
            try:
                self._client = await asyncio.shield(self._loading)
            except OSError as error:  # ssl's own errors are of that kind
                self._loading = None
                raise ServerFailed(
                    "The authorities that certificates are checked by cannot be read "
                    f"({error}); correct SSL_CERT_FILE, or unset it."
                ) from error
        return self._client

    def _load(self) -> "httpx.AsyncClient":
        """In a thread: the import takes a fifth of a second, and the certificates as long again."""
        import httpx

        secure = self._access.address.scheme == "https"
        beyond = self._access.address.leaves_home
        return httpx.AsyncClient(
            # The context that trusts nobody is for http, which asks it nothing.
            verify=httpx.create_ssl_context()
            if secure
            else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            trust_env=beyond,  # a proxy on the way out; what stays at home passes none
            follow_redirects=False,
            limits=httpx.Limits(
                max_connections=MOST_CONNECTIONS,
                max_keepalive_connections=MOST_CONNECTIONS,
                keepalive_expiry=KEPT_OPEN_S,
            ),
        )

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong with a connection, in words."""
        import httpx

        kind, name = self._access.address.kind, self.name
        try:
            yield
        except httpx.TimeoutException as error:
            raise ServerFailed(
                f"The speech server at {name} did not answer in time; try again in a moment.",
                may_pass=isinstance(error, httpx.ConnectTimeout),
            ) from error
        except httpx.ConnectError as error:
            if _is_about_certificates(error):
                raise ServerFailed(
                    f"The certificate of the speech server at {name} is not trusted; give it a "
                    "valid one, or name its authority in SSL_CERT_FILE."
                ) from error
            raise ServerFailed(
                f"The speech server at {name} cannot be reached; check that it runs and that "
                f"{kind}.api_base is its address.",
                may_pass=True,
            ) from error
        except httpx.HTTPError as error:
            log.info("the connection to %s broke: %s", name, type(error).__name__)
            raise ServerFailed(
                f"The connection to the speech server at {name} broke; try again in a moment.",
                may_pass=True,
            ) from error

    async def _judge(self, answer: "httpx.Response", path: str) -> None:
        status, name, kind = answer.status_code, self.name, self._access.address.kind
        if status == HTTPStatus.OK:
            return
        log.info("the speech server at %s answers %s", name, status)
        if status in OTHER_SHAPE:
            raise ShapeRefused(
                f"The speech server at {name} refused the request{await self._quote(answer)}; "
                f"check {kind}.api_model{' and voice.api_voice' if kind == 'voice' else ''}."
            )
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            variable = self._access.key_variable
            remedy = (
                f"put a valid one into {variable}"
                if variable
                else f"name the variable that holds one in {kind}.api_key_variable"
            )
            raise ServerFailed(f"The speech server at {name} wants another key; {remedy}.")
        if status == HTTPStatus.NOT_FOUND:
            raise ServerFailed(
                f"The speech server at {name} has no {path}, or not that model; check "
                f"{kind}.api_base and {kind}.api_model."
            )
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise ServerFailed(
                f"That was too long for the speech server at {name}; say it in parts."
            )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise ServerFailed(
                f"The speech server at {name} takes no more requests now; wait a minute and try "
                "again.",
                may_pass=True,
                after_s=_retry_after(answer),
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ServerFailed(
                f"The speech server at {name} has trouble on its side; try again in a moment.",
                may_pass=True,
                after_s=_retry_after(answer),
            )
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            raise ServerFailed(
                f"The speech server at {name} sends requests elsewhere, and what is said is not "
                f"sent on; set {kind}.api_base to the address that answers."
            )
        raise self.nonsense()

    async def _quote(self, answer: "httpx.Response") -> str:
        """A refusal in the server's own words, in brackets; empty if there are none."""
        try:
            content = read_json(await self.whole(answer, MOST_ERROR_BYTES))
        except (UntrustedJsonError, ServerFailed):
            return ""
        told = content.get("error", content.get("detail")) if isinstance(content, dict) else None
        words = told.get("message") if isinstance(told, dict) else told
        if not isinstance(words, str):
            return ""
        if self._access.key:
            words = words.replace(self._access.key, "…")
        words = printable(words)[:LONGEST_QUOTE].rstrip(". ").replace(";", ",")
        return f" ({words})" if words else ""

    async def whole(self, answer: "httpx.Response", most: int = MOST_ANSWER_BYTES) -> bytes:
        """The answer's body, if it is not longer than that."""
        body = bytearray()
        async for block in answer.aiter_raw():
            body += block
            if len(body) > most:
                raise self.nonsense()
        return bytes(body)


async def patient(problem: ServerFailed, tries_left: int) -> None:
    """Wait for as long as the server wants, if it is worth asking again; else raise the problem."""
    if not tries_left or not problem.may_pass or problem.after_s > LONGEST_PAUSE_S:
        raise problem
    await asyncio.sleep(problem.after_s)


def printable(text: str) -> str:
    """What another machine wrote, on one line and without what is not seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _retry_after(answer: "httpx.Response") -> float:
    """Seconds; a date, or nonsense, counts as long."""
    text = answer.headers.get("retry-after", "0")
    try:
        seconds = float(text)
    except ValueError:
        return math.inf
    return seconds if seconds >= 0 else math.inf


def _is_about_certificates(error: BaseException) -> bool:
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(cause):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False

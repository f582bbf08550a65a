"""Why a connection ended, what to tell the person, and whether calling again makes sense."""

from dataclasses import dataclass
from datetime import datetime
from ssl import SSLCertVerificationError, SSLError

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
    WebSocketException,
)

from sayso.client.errors import ClientError
from sayso.client.session.backoff import BUSY, CUT, GARBAGE, NOBODY, Backoff
from sayso.protocol.errors import CODES, HomeError, ProtocolError
from sayso.protocol.messages import Bye, Error
from sayso.protocol.own_server import ForeignServerError

_OUR_COMPLAINTS = frozenset({1002, 1007, 1009})
"""What our library closes with when frames are broken, no text, or too long."""
WHO_WE_KNOW = (
    "the server that this device was paired with, so nothing was sent: if the server was set up "
    "anew, pair again with `sayso pair join`."
)
_OUT_OF_TIME = frozenset({9, 10})
"""Of OpenSSL's reasons (X509_V_ERR): the certificate is not valid yet, or not any more."""
_UNAUTHORIZED, _FORBIDDEN, _BUSY = 401, 403, 503


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The end of a connection, or of the attempt to make one."""

    reason: str
    """One sentence."""
    backoff: Backoff | None
    """How to try again; none: it would not help."""
    retry_s: float | None = None
    """When the server itself asked us to try again."""
    unauthorized: bool = False
    """The token was not accepted; another one might be."""


class ServerSaid(Exception):
    """The server sent a fatal `error`."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.error = error


class ServerLeft(Exception):
    """The server said `bye`."""

    def __init__(self, bye: Bye) -> None:
        super().__init__(bye.reason)
        self.bye = bye


class Stalled(Exception):
    """The connection is open, but nothing comes any more."""


class NotReady(Exception):
    """The server took the connection, but does not greet us yet."""


class NotSayso(Exception):
    """What answers does not speak as a Sayso server does."""


class WrongVersion(Exception):
    """The server chose a version of the protocol that we did not offer."""


_FINAL_CODES = frozenset({"version_mismatch", "unauthorized", "forbidden", "replaced"})
"""Fatal errors after which calling again with the same words would get the same answer."""


def judge(error: Exception, url: str) -> Disconnect:
    """Finds out what an exception means. Those that it does not know are faults of ours."""
    match error:
        case ServerSaid() | ServerLeft() | WrongVersion() | NotReady():
            return _told(error, url)
        case InvalidStatus():
            return _status(error.response.status_code, url)
        case ConnectionClosed() | InvalidMessage(__cause__=EOFError()):
            return _closed(error)
        case ProtocolError():
            return Disconnect(
                f"The server said what cannot be understood: {error.message}", GARBAGE
            )
        case HomeError() | ClientError():
            passes = isinstance(error, ForeignServerError)
            return Disconnect(str(error), GARBAGE if passes else None)
        case InvalidURI():
            return Disconnect(
                f"{url} is not an address; it must look like ws://host:port/ws.", None
            )
        case NotSayso() | InvalidHandshake() | WebSocketException() | EOFError():
            return Disconnect(f"What answers at {url} is not a Sayso server.", GARBAGE)
        case Stalled() | TimeoutError():
            return Disconnect(f"The server at {url} does not answer.", CUT)
        case OSError():
            return _no_line(error, url)
        case _:
            raise error


def _no_line(error: OSError, url: str) -> Disconnect:
    if isinstance(error, SSLCertVerificationError) and error.verify_code in _OUT_OF_TIME:
        here = f"{datetime.now().astimezone():%d %B %Y}"
        return Disconnect(
            f"The certificate of the server at {url} is not valid on {here}, which it is by this "
            "device's clock: set the clock that is wrong, this one or the server's.",
            GARBAGE,
        )
    if isinstance(error, SSLError):
        return Disconnect(f"What answers at {url} can't prove that it is {WHO_WE_KNOW}", GARBAGE)
    start = "start it with `sayso serve`"
    return Disconnect(f"No Sayso server answers at {url}: {start}.", NOBODY)


def _told(error: ServerSaid | ServerLeft | WrongVersion | NotReady, url: str) -> Disconnect:
    """The server was plain, by what it said or did not say."""
    match error:
        case ServerSaid():
            return _said(error.error)
        case ServerLeft():
            why = f": {error.bye.reason.rstrip('.')}" if error.bye.reason else ""
            return Disconnect(f"The server left{why}.", CUT)
        case WrongVersion():
            return Disconnect(str(error), None)
        case NotReady():
            return Disconnect(f"The server at {url} is there, but still getting ready.", CUT)


def _said(error: Error) -> Disconnect:
    if error.code in _FINAL_CODES:
        return Disconnect(error.message, None, unauthorized=error.code == "unauthorized")
    if error.retry_ms is not None:
        return Disconnect(error.message, BUSY, error.retry_ms / 1000)
    return Disconnect(error.message, BUSY)


def _status(status: int, url: str) -> Disconnect:
    if status == _UNAUTHORIZED and url.startswith("wss:"):
        return Disconnect(
            f"The server at {url} does not know this device any more: it was turned out, or the "
            "server was set up anew. Pair it again with `sayso pair join`.",
            None,
            unauthorized=True,
        )
    if status == _UNAUTHORIZED:
        return Disconnect(
            f"The server at {url} does not accept our token: it runs as another user or with "
            "another SAYSO_HOME. `sayso doctor` shows which token file is used.",
            None,
            unauthorized=True,
        )
    if status == _FORBIDDEN:
        return Disconnect(
            f"The server at {url} refuses to talk to this address: use 127.0.0.1.", None
        )
    if status == _BUSY:
        return Disconnect(f"The server at {url} is too busy.", BUSY)
    return Disconnect(f"What answers at {url} is not a Sayso server (HTTP {status}).", GARBAGE)


def _closed(error: ConnectionClosed | InvalidMessage) -> Disconnect:
    if isinstance(error, InvalidMessage):
        return Disconnect("The connection was cut while it was being made.", CUT)
    if error.sent is not None and error.sent.code in _OUR_COMPLAINTS and not error.rcvd_then_sent:
        return Disconnect("The server said what cannot be understood.", GARBAGE)
    code = error.rcvd.code if error.rcvd else None
    reason = error.rcvd.reason if error.rcvd else ""
    name = next((name for name, meaning in CODES.items() if meaning.close == code), None)
    if name in _FINAL_CODES:
        return Disconnect(reason or f"The server ended the connection ({name}).", None)
    return Disconnect("The connection was cut.", CUT)

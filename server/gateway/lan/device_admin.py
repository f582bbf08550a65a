"""Pairs and revokes devices for principals that may do so, and admits a new device."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope
from sayso.protocol.errors import Invalid, Refused
from sayso.protocol.fingerprint import browser_url, fingerprint, pairing_url, words
from sayso.server.gateway.http.trust_page import TrustPage
from sayso.server.gateway.socket.session import Session
from sayso.server.store.access import AccessRecord, DevicePaired, DeviceRevoked
from sayso.server.trust.devices import Device, Devices, DevicesError, plain_name
from sayso.server.trust.pairing import OPEN_S, Pairing, Window
from sayso.server.trust.principal import OWNER, Principal, Scope

NOT_OPEN = "No pairing is open: run `sayso pair` on the server's machine, then try again at once."
NOT_MORE = "This device may let in others only with rights that it has itself."
NOT_THEIRS = "This device may let in its own person's devices alone."
NOT_NOW = f"Somebody else is letting a device in; try again in {OPEN_S / 60:.0f} minutes."
WRONG_CODE = "That code is not right. Look at the server's screen again."


@dataclass(frozen=True, slots=True)
class Reachable:
    """How other devices reach the server."""

    address: str
    """Name or address, and port."""
    authority: bytes
    """The certificate (DER) by which they know it."""
    names: tuple[str, ...] = ()
    """All names and addresses of the server's."""


class DeviceAdmin:
    """Knows which window is open, who opened it, and which devices there are."""

    def __init__(
        self,
        devices: Devices,
        is_connected: Callable[[str], bool],
        note: Callable[[AccessRecord], None],
    ) -> None:
        """`note` records which devices were paired and revoked."""
        self._note = note
        self._revoking = ""
        """The device on which one is just being revoked."""
        devices.on_revoked(self._revoked)
        self._devices = devices
        self._is_connected = is_connected
        self._pairing = Pairing()
        self._opened: tuple[Window, Session] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self.near = ""
        """Host and port for this machine's own browser."""
        self.reachable: Reachable | None = None
        """None: other devices can't reach the server."""
        self.introduction: TrustPage | None = None
        """Where browsers get the authority; none if they don't."""

    def take(self, session: Session, message: m.FromClient) -> None:
        """A client wants to let somebody in, or to turn somebody out. Raises Refused."""
        if not session.who.may("admin"):
            raise Refused(
                "This device may not manage devices: do that on the server's machine.",
                code="forbidden",
                fatal=False,
            )
        match message:
            case m.PairingOpen():
                self._open(session, message)
            case m.PairingClose():
                if self._is_of(session):
                    self._end(m.PairingDone("closed"))
            case m.DevicesRevoke(device=name):
                self._revoke(session, name)
                self._list(session)
            case _:
                self._list(session)

    def parted(self, session: Session) -> None:
        """A client's connection is gone, and with it the window that it opened."""
        if self._is_of(session):
            self._end(None)

    def admit(self, pair: m.Pair, address: str = "") -> m.Paired:
        """A device at this address shows a code. Raises Refused."""
        by = self._opened[1].device if self._opened else ""
        verdict, window = self._pairing.show(pair.code, _now())
        if verdict == "shut" or window is None:
            raise Refused(NOT_OPEN, code="forbidden", fatal=True).because("pairing_closed")
        if verdict == "wrong":
            if not window.tries:
                self._end(m.PairingDone("failed"))
            raise Refused(WRONG_CODE, code="unauthorized", fatal=True).because("wrong_code")
        try:
            name = window.name or plain_name(pair.name)
            device, token = self._devices.add(name, window.person, window.scopes)
        except DevicesError as problem:
            self._end(m.PairingDone("failed"))
            raise Refused(str(problem), code="forbidden", fatal=True) from problem
        self._note(
            DevicePaired(
                device.name, device.id, device.person, device.scopes, plain_name(by), address
            )
        )
        self._end(m.PairingDone("paired", device.name))
        return m.Paired(token, device.name, device.person, device.scopes)

    async def close(self) -> None:
        """The server closes."""
        self._end(None)
        if self.introduction:
            await self.introduction.closed()

    # --- windows ---

    def _open(self, session: Session, wanted: m.PairingOpen) -> None:
        scopes: set[Scope] = {"talk", *wanted.scopes}
        name, person = plain_name(wanted.name), _person(session.who, wanted)
        if not scopes <= session.who.scopes:
            raise Refused(NOT_MORE, code="forbidden", fatal=False)
        if self._opened and not _manages(session.who, self._opened[0].person):
            raise Refused(NOT_NOW, code="forbidden", fatal=False)
        self._end(m.PairingDone("closed"))
        now = _now()
        window = self._pairing.open(now, name, person, scopes)
        self._opened = (window, session)
        self._expire_at(window.until)
        session.outbox.put(Envelope(self._opening(window)))

    def _expire_at(self, moment: float) -> None:
        if self._expiry:
            self._expiry.cancel()
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_at(moment, self._end, m.PairingDone("expired"))

    def _looked_at(self) -> None:
        """A device looks at the page that introduces the server."""
        if self._opened:
            window, _ = self._opened
            self._pairing.is_looked_at(window, _now())
            self._expire_at(window.until)

    def _is_of(self, session: Session) -> bool:
        """Whether it opened the window that is open."""
        return self._opened is not None and self._opened[1] is session

    def _opening(self, window: Window) -> m.PairingOpened:
        there = self.reachable
        if there is None:
            url = browser_url(self.near, window.code)
            return m.PairingOpened(url, window.digits, "", OPEN_S)
        url = pairing_url(there.address, window.code, fingerprint(there.authority))
        trust = self._introduce(there, self.introduction) if self.introduction else ""
        return m.PairingOpened(url, window.digits, words(there.authority), OPEN_S, trust)

    def _introduce(self, there: Reachable, introduction: TrustPage) -> str:
        """For as long as the window is open, browsers get the authority."""
        best = there.address.rpartition(":")[0]
        home = f"https://{there.address}/"
        introduction.looked_at = self._looked_at
        return introduction.open(there.names, best, home, there.authority)

    def _end(self, outcome: m.PairingDone | None) -> None:
        if self._expiry:
            self._expiry.cancel()
        opened, self._opened, self._expiry = self._opened, None, None
        if self.introduction:
            self.introduction.close()
        if opened:
            window, session = opened
            self._pairing.shut(window)
            if outcome:
                session.outbox.put(Envelope(outcome))

    # --- devices ---

    def _revoke(self, session: Session, name: str) -> None:
        who, self._revoking = session.who, session.device
        try:
            self._devices.revoke(name, among=lambda device: _manages(who, device.person))
        except DevicesError as problem:
            raise Invalid(str(problem)) from problem
        finally:
            self._revoking = ""

    def _revoked(self, device: Device) -> None:
        by, scopes = plain_name(self._revoking), device.scopes
        self._note(DeviceRevoked(device.name, device.id, device.person, scopes, by))

    def _list(self, session: Session) -> None:
        listed = tuple(
            {
                "name": device.name,
                "person": device.person,
                "scopes": list(device.scopes),
                "paired_at": device.paired_at,
                "connected": self._is_connected(device.id),
            }
            for device in self._devices.all
            if _manages(session.who, device.person)
        )
        session.outbox.put(Envelope(m.Devices(listed)))


def _manages(who: Principal, person: str) -> bool:
    """The owner manages everybody's devices, anybody else their own."""
    return who.person in (OWNER, person)


def _person(who: Principal, wanted: m.PairingOpen) -> str:
    """Whose the device will be. Raises Refused."""
    person = plain_name(wanted.person)
    if who.person == OWNER:
        return person
    if person.casefold() not in ("", who.person.casefold()):
        raise Refused(NOT_THEIRS, code="forbidden", fatal=False)
    return who.person


def _now() -> float:
    return asyncio.get_running_loop().time()

"""The bus on which applications tell of their parts."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

ANSWER_S: Final = 2.0
"""For one application; one that hangs is left out."""
AT_ONCE: Final = 64
"""Questions on their way to an application before the first answer is read."""
_BUS: Final = "org.freedesktop.DBus"
_REGISTRY: Final = "org.a11y.atspi.Registry"
_ROOT: Final = "/org/a11y/atspi/accessible/root"

Reference = tuple[str, str]
"""An application's name on the bus, and the path of a part of it."""


class NoAnswer(Exception):
    """An application did not answer, or has no such part any more."""


class AccessibilityBus:
    """Of one session."""

    def __init__(self) -> None:
        """Raises NoAnswer where there is no such bus."""
        from jeepney.io.blocking import open_dbus_connection

        try:
            self._connection: Any = open_dbus_connection(_address())
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise NoAnswer(f"No accessibility bus answers: {problem}") from problem
        self._pids: dict[str, int] = {}
        with suppress(NoAnswer):  # GTK 3 gives whole trees only once somebody listens
            self.ask(
                (_REGISTRY, "/org/a11y/atspi/registry"),
                "org.a11y.atspi.Registry",
                "RegisterEvent",
                "s",
                "object:state-changed:focused",
            )

    def ask(self, of: Reference, interface: str, method: str, kinds: str = "", *args: Any) -> Any:  # noqa: ANN401 - what D-Bus says
        """The answer's values. Raises NoAnswer."""
        return self.ask_all([(of, interface, method, kinds, args)])[0]

    def get(self, of: Reference, interface: str, name: str) -> Any:  # noqa: ANN401 - as above
        """A property. Raises NoAnswer."""
        value = self.ask(of, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)[0]
        return value[1]

    def ask_all(
        self, questions: Sequence[tuple[Reference, str, str, str, tuple[Any, ...]]]
    ) -> list[Any]:
        """The answers to all of these; NoAnswer where one is missing. Raises the last of them if
        there is one question alone."""
        from jeepney import DBusAddress, MessageType, new_method_call

        answers: list[Any] = []
        for start in range(0, len(questions), AT_ONCE):
            waiting: dict[int, int] = {}
            piece = questions[start : start + AT_ONCE]
            for number, (of, interface, method, kinds, args) in enumerate(piece):
                address = DBusAddress(of[1], bus_name=of[0], interface=interface)
                message = new_method_call(address, method, kinds or None, args)
                serial = next(self._connection.outgoing_serial)
                self._connection.send(message, serial=serial)
                waiting[serial] = number
            found: list[Any] = [NoAnswer("It did not answer.")] * len(piece)
            while waiting:
                try:
                    message = self._connection.receive(timeout=ANSWER_S)
                except (TimeoutError, OSError, EOFError) as problem:
                    if len(questions) == 1:
                        raise NoAnswer("It did not answer in time.") from problem
                    break
                number = waiting.pop(_answered(message), -1)
                if number >= 0:
                    bad = message.header.message_type is MessageType.error
                    found[number] = NoAnswer(str(message.body)[:200]) if bad else message.body
            answers += found
        if len(questions) == 1 and isinstance(answers[0], NoAnswer):
            raise answers[0]
        return answers

    def applications(self, pid: int) -> list[Reference]:
        """The roots of what a process tells."""
        try:
            (children,) = self.ask((_REGISTRY, _ROOT), "org.a11y.atspi.Accessible", "GetChildren")
        except NoAnswer:
            return []
        return [(str(name), str(path)) for name, path in children if self._pid(str(name)) == pid]

    def _pid(self, name: str) -> int:
        if name not in self._pids:
            bus = (_BUS, "/org/freedesktop/DBus")
            try:
                (self._pids[name],) = self.ask(bus, _BUS, "GetConnectionUnixProcessID", "s", name)
            except NoAnswer:
                self._pids[name] = 0
        return self._pids[name]

    def close(self) -> None:
        with suppress(OSError):
            self._connection.close()


def _answered(message: Any) -> int:  # noqa: ANN401 - jeepney's own
    from jeepney import HeaderFields

    return int(message.header.fields.get(HeaderFields.reply_serial, -1))


def _address() -> str:
    """Where the bus is: as the environment says, or the session's own bus."""
    from jeepney import DBusAddress, MessageType, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    if named := os.environ.get("AT_SPI_BUS_ADDRESS"):
        return named
    session = open_dbus_connection("SESSION")
    try:
        where = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
        reply = session.send_and_get_reply(new_method_call(where, "GetAddress"), timeout=ANSWER_S)
    finally:
        session.close()
    if reply.header.message_type is MessageType.error:
        raise OSError(str(reply.body)[:200])
    return str(reply.body[0])

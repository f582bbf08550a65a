"""Who may use a protocol without encryption."""

import pytest

from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.gateway.plain_port import CannotListenError


def test_on_this_machine_its_programs_come_in_and_nobody_else() -> None:
    where = PlainListener.read("adapters.wyoming", "127.0.0.1:10300", ())
    assert (where.host, where.port, where.is_near) == ("127.0.0.1", 10_300, True)
    assert where.lets_in("127.0.0.1")
    assert where.lets_in("::ffff:127.0.0.1")
    assert not where.lets_in("192.168.1.2")
    assert not where.lets_in("")


def test_on_a_network_machines_come_in_that_are_named() -> None:
    where = PlainListener.read("adapters.wyoming", "0.0.0.0:10300", ("192.168.1.2", "fd00::2"))
    assert not where.is_near
    assert where.lets_in("192.168.1.2")
    assert where.lets_in("::ffff:192.168.1.2")
    assert where.lets_in("fd00:0:0::2")
    assert not where.lets_in("192.168.1.20")
    assert not where.lets_in("fe80::1%eth0")


@pytest.mark.parametrize(
    ("value", "peers", "told"),
    [
        ("0.0.0.0:10300", (), "name the machines"),
        ("192.168.1.5:10300", (), "name the machines"),
        ("[::]:10300", (), "name the machines"),
        ("0.0.0.0:10300", ("0.0.0.0/0",), "no address of one machine"),
        ("0.0.0.0:10300", ("kitchen",), "no address of one machine"),
        ("10300", (), "no address with a port"),
        ("127.0.0.1:port", (), "no address with a port"),
        ("127.0.0.1:70000", (), "no address with a port"),
    ],
)
def test_what_would_be_open_to_everybody_is_refused(
    value: str, peers: tuple[str, ...], told: str
) -> None:
    with pytest.raises(CannotListenError, match=told):
        PlainListener.read("adapters.wyoming", value, peers)


def test_what_is_for_this_machine_alone_is_open_to_no_other() -> None:
    assert PlainListener.read("adapters.lmc", "127.0.0.1:10001", None).is_near
    with pytest.raises(CannotListenError, match="this machine alone"):
        PlainListener.read("adapters.lmc", "0.0.0.0:10001", None)

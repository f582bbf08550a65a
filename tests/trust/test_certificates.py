"""The server's own authority: for itself alone, kept as long as it can be, for the owner's eyes."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sayso.protocol.fingerprint import (
    fingerprint,
    is_of,
    pairing_url,
    read_pairing_url,
    words,
)
from sayso.server.trust.certificates import (
    CertificateError,
    best_name,
    identity,
    own_names,
    renewed,
)

NAMES = ("house", "house.local", "192.168.1.5", "fd00::5")


def certificate(folder: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / "server.pem").read_bytes())


def named(folder: Path) -> set[str]:
    found = certificate(folder).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {str(name.value) for name in found.value}


def test_a_certificate_names_what_the_machine_is_called(tmp_path: Path) -> None:
    known = identity(tmp_path, NAMES)
    assert set(NAMES) | {"localhost", "sayso.local", "127.0.0.1", "::1"} == set(known.names)
    assert named(tmp_path) == set(known.names)


def test_addresses_of_the_open_internet_are_not_named(tmp_path: Path) -> None:
    known = identity(tmp_path, ("8.8.8.8", "192.0.2.7", "2001:db8::1", "bad name", ""))
    assert set(known.names) == {"localhost", "sayso.local", "127.0.0.1", "::1"}


def test_the_authority_may_sign_for_nothing_else(tmp_path: Path) -> None:
    authority = x509.load_der_x509_certificate(identity(tmp_path, NAMES).authority)
    limits = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert limits.critical
    permitted = {str(one.value) for one in limits.value.permitted_subtrees or ()}
    assert {"house", "house.local", "localhost", "sayso.local", "192.168.0.0/16"} <= permitted
    assert not permitted & {"local", "0.0.0.0/0", "::/0", "com"}


def test_secrets_are_for_their_owner(tmp_path: Path) -> None:
    identity(tmp_path, NAMES)
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    load_pem_private_key((tmp_path / "authority.key").read_bytes(), password=None)


def test_what_is_good_stays(tmp_path: Path) -> None:
    first = identity(tmp_path, NAMES)
    serial = certificate(tmp_path).serial_number
    again = identity(tmp_path, reversed(NAMES))
    assert again.authority == first.authority
    assert certificate(tmp_path).serial_number == serial


def test_an_old_certificate_is_renewed_and_the_authority_stays(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    first = identity(tmp_path, NAMES, now - timedelta(days=150))
    serial = certificate(tmp_path).serial_number
    assert identity(tmp_path, NAMES, now).authority == first.authority
    assert certificate(tmp_path).serial_number != serial
    assert certificate(tmp_path).not_valid_after_utc > now + timedelta(days=100)


@pytest.mark.parametrize("years", [-56, 20])
def test_a_clock_that_was_wrong_for_a_while_costs_nobody_the_authority(
    tmp_path: Path, years: int
) -> None:
    now = datetime.now(UTC)
    first = identity(tmp_path, NAMES, now)
    for _ in range(2):
        identity(tmp_path, NAMES, now + timedelta(days=365 * years))
        assert identity(tmp_path, NAMES, now).authority == first.authority
        assert certificate(tmp_path).not_valid_before_utc < now
        assert certificate(tmp_path).not_valid_after_utc > now + timedelta(days=100)


def test_an_authority_that_is_over_gives_way_to_a_new_one(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    first = identity(tmp_path, NAMES, now - timedelta(days=3_700))
    second = identity(tmp_path, NAMES, now)
    assert second.authority != first.authority
    assert identity(tmp_path, NAMES, now + timedelta(days=30)).authority == second.authority


def test_a_new_address_is_named(tmp_path: Path) -> None:
    first = identity(tmp_path, NAMES)
    later = renewed(first, tmp_path, (*NAMES, "10.0.0.9"))
    assert "10.0.0.9" in named(tmp_path)
    assert later.context is first.context
    assert later.authority == first.authority


def test_a_name_that_the_authority_was_not_made_for_is_left_out(tmp_path: Path) -> None:
    identity(tmp_path, NAMES)
    later = identity(tmp_path, (*NAMES, "renamed.local"))
    assert "renamed.local" not in later.names


@pytest.mark.parametrize("damaged", ["server.pem", "server.key"])
def test_a_damaged_certificate_is_made_anew_or_told(tmp_path: Path, damaged: str) -> None:
    first = identity(tmp_path, NAMES)
    (tmp_path / damaged).write_text("garbage")
    if damaged == "server.pem":
        assert identity(tmp_path, NAMES).authority == first.authority
    else:
        with pytest.raises(CertificateError, match="pair your devices again"):
            identity(tmp_path, NAMES)


def test_the_machine_knows_its_names_without_asking_the_network() -> None:
    assert "127.0.0.1" in own_names()
    assert "sayso.example" in own_names(("sayso.example",))


def test_the_name_that_is_shown_is_one_that_others_can_reach() -> None:
    names = ("127.0.0.1", "::1", "fe80::1", "fd00::5", "192.168.1.5", "house.local")
    assert best_name(names, "0.0.0.0") == "192.168.1.5"
    assert best_name(names, "fd00::5") == "[fd00::5]"
    assert best_name(("127.0.0.1", "localhost"), "0.0.0.0") == "localhost"
    assert best_name(("fd00::5", "den.local"), "0.0.0.0") == "den.local"
    assert best_name(("fd00::5", "den.local"), "::") == "[fd00::5]"


def test_a_fingerprint_is_compared_as_words_and_carried_in_a_url(tmp_path: Path) -> None:
    one = identity(tmp_path / "one", ()).authority
    two = identity(tmp_path / "two", ()).authority
    assert is_of(one, fingerprint(one))
    assert not is_of(two, fingerprint(one))
    assert words(one) != words(two)
    assert [len(word) for word in words(one).split()] == [5] * 5
    url = pairing_url("192.168.1.5:8766", "the-code", fingerprint(one))
    assert read_pairing_url(url) == ("192.168.1.5:8766", "the-code", fingerprint(one))
    assert "the-code" not in url.partition("#")[0]
    for other in ("192.168.1.5", "http://a/#pair=1&ca=2", "https://a/", "https://a/#pair=1"):
        assert read_pairing_url(other) is None

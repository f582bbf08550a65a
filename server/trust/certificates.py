"""Creates the server's own certificate authority (CA) and its certificate.

The authority signs for nothing but this server: its certificate names the addresses that it may
sign for (private networks, and this machine's names), so that a browser which trusts it can be
fooled by it nowhere else. Clients of Sayso's own know the server by the authority's fingerprint.

The certificate is made anew when it is old, or when the machine's names or addresses have changed;
the authority stays.
"""

import os
import secrets
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

import ifaddr
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LASTS = timedelta(days=3_650)
"""Ten years: to renew it, every device would have to be paired again."""
CERTIFICATE_LASTS = timedelta(days=180)
"""Well under what the strictest browsers take (398 days)."""
RENEWED_BEFORE = timedelta(days=60)
"""A server that is started only now and then stays ahead."""
CLOCKS_DIFFER = timedelta(days=1)
"""A device whose clock is behind accepts a new certificate all the same."""

NETWORKS = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "fc00::/7",
    "fe80::/10",
    "::1/128",
)
"""Homes, links, Tailscale's, and this machine: no address of the open internet."""

ANY_IPV4 = "0.0.0.0"  # noqa: S104 (nothing is opened by it here)
"""A server that listens here cannot be reached by an address of IPv6."""

LONGEST_NAME = 253
"""Characters of a name on the network (RFC 1035)."""

LOCAL_NAMES = ("localhost", "sayso.local")


class CertificateError(Exception):
    """The certificates can't be made, read or written. One sentence for the person."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What the server shows of itself."""

    authority: bytes
    """The authority's certificate (DER)."""
    context: ssl.SSLContext
    names: tuple[str, ...]
    """Names and addresses that the certificate is good for."""


def identity(folder: Path, names: Iterable[str], now: datetime | None = None) -> Identity:
    """Read what is there; make or renew what is missing, old or of other names.

    Raises CertificateError.
    """
    now = now or datetime.now(UTC)
    wanted = tuple(sorted({*LOCAL_NAMES, "127.0.0.1", "::1", *filter(_may_be_named, names)}))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority_key, authority = _authority(folder, wanted, now)
        good = tuple(name for name in wanted if _may_sign(authority, name))
        _certificate(folder, good, now, authority_key, authority)
        return Identity(_der(authority), _context(folder), good)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CertificateError(
            f"The server's certificates in {folder} can't be used ({reason}); mend that, or delete "
            "the folder and pair your devices again."
        ) from error


def renewed(
    known: Identity, folder: Path, names: Iterable[str], now: datetime | None = None
) -> Identity:
    """The same, as it is to be from now on: connections that are made later see it.

    Raises CertificateError.
    """
    fresh = identity(folder, names, now)
    known.context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return Identity(fresh.authority, known.context, fresh.names)


def own_names(also: Iterable[str] = ()) -> tuple[str, ...]:
    """Names and addresses of this machine, as others on its networks use them."""
    host = socket.gethostname().lower().rstrip(".")
    found = {host, host.partition(".")[0], f"{host.partition('.')[0]}.local", *also}
    found |= _addresses()
    return tuple(sorted(name for name in found if name))


def best_name(names: Iterable[str], listening: str) -> str:
    """By which of them another device most probably finds this machine."""
    known = list(names)
    if listening in known:
        return bracketed(listening)
    addresses = [name for name in known if _is_address(name) and not ip_address(name).is_loopback]
    near = [name for name in addresses if not ip_address(name).is_link_local]
    if listening == ANY_IPV4:
        near = [name for name in near if ":" not in name]
    plain = sorted(near, key=lambda name: (":" in name, name))
    called = [name for name in known if name.endswith(".local")]
    return bracketed(next(iter((*plain, *called)), "localhost"))


def bracketed(name: str) -> str:
    """A name or address as a URL has it."""
    return f"[{name}]" if ":" in name else name


def _addresses() -> set[str]:
    """The addresses of this machine's network cards."""
    cards = ifaddr.get_adapters()
    held = (ip.ip if isinstance(ip.ip, str) else ip.ip[0] for card in cards for ip in card.ips)
    return {address.partition("%")[0] for address in held}


def _may_be_named(name: str) -> bool:
    """An address must lie in one of the networks; a name must be one."""
    try:
        address = ip_address(name)
    except ValueError:
        return (
            bool(name) and len(name) <= LONGEST_NAME and all(c.isalnum() or c in "-." for c in name)
        )
    networks = (ip_network(network) for network in NETWORKS)
    return any(address in network for network in networks if network.version == address.version)


def _authority(
    folder: Path, names: tuple[str, ...], now: datetime
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """One that is there stays until it is over; one that was taken for over is there again when the
    clock turns out to have been wrong."""
    key = _key(folder / "authority.key")
    path, earlier = folder / "authority.pem", folder / "authority-before.pem"
    known = [one for one in map(_read, (path, earlier)) if one and _is_of(one, key)]
    for one in known:
        if one.not_valid_before_utc <= now < one.not_valid_after_utc:
            return key, one
    if known and now < known[0].not_valid_before_utc:
        return key, known[0]
    if path.exists():
        path.replace(earlier)
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Sayso on {_host()}")])
    domains = (name for name in names if not _is_address(name))
    permitted: list[x509.GeneralName] = [x509.DNSName(name) for name in domains]
    permitted += [x509.IPAddress(ip_network(network)) for network in NETWORKS]
    certificate = (
        _builder(called, called, key.public_key(), key, now, AUTHORITY_LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write(path, certificate.public_bytes(serialization.Encoding.PEM))
    return key, certificate


def _read(path: Path) -> x509.Certificate | None:
    return x509.load_pem_x509_certificate(path.read_bytes()) if path.exists() else None


def _is_of(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> bool:
    return certificate.public_key() == key.public_key()


def _may_sign(authority: x509.Certificate, name: str) -> bool:
    """Whether the authority was made for this name. This machine may have been renamed since."""
    if _is_address(name):
        return True
    held = authority.extensions.get_extension_for_class(x509.NameConstraints).value
    domains = [one.value for one in held.permitted_subtrees or () if isinstance(one, x509.DNSName)]
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)


def _certificate(
    folder: Path,
    names: tuple[str, ...],
    now: datetime,
    authority_key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
) -> None:
    key = _key(folder / "server.key")
    path = folder / "server.pem"
    if path.exists() and _is_good(path.read_bytes(), key, authority, names, now):
        return
    alternatives: list[x509.GeneralName] = [
        x509.IPAddress(ip_address(name)) if _is_address(name) else x509.DNSName(name)
        for name in names
    ]
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Sayso")])
    certificate = (
        _builder(called, authority.subject, key.public_key(), authority_key, now, CERTIFICATE_LASTS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    _write(path, certificate.public_bytes(serialization.Encoding.PEM))


def _is_good(
    pem: bytes,
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    names: tuple[str, ...],
    now: datetime,
) -> bool:
    try:
        known = x509.load_pem_x509_certificate(pem)
        known.verify_directly_issued_by(authority)
        held = known.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    alternatives = {str(one.value) for one in held}
    fresh = known.not_valid_before_utc <= now <= known.not_valid_after_utc - RENEWED_BEFORE
    return fresh and known.public_key() == key.public_key() and alternatives == set(names)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signing: ec.EllipticCurvePrivateKey,
    now: datetime,
    lasts: timedelta,
) -> x509.CertificateBuilder:
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + lasts)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(signer, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return context


def _key(path: Path) -> ec.EllipticCurvePrivateKey:
    if not path.exists():
        made = ec.generate_private_key(ec.SECP256R1())
        pem = made.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        _write(path, pem)
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{path.name} holds another kind of key")
    return key


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, for its owner's eyes."""
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _host() -> str:
    return socket.gethostname().partition(".")[0] or "this machine"


def _der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)

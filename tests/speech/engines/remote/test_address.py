"""Speech is sent only where the settings say, and without TLS only within the local network."""

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sayso.server.settings.keys import keys
from sayso.server.speech.engines.remote.address import Address
from sayso.server.speech.engines.remote.recognizer import RemoteRecognizer
from sayso.server.speech.engines.remote.server import Access
from sayso.server.speech.engines.remote.server import SpeechServer as Client
from sayso.server.speech.errors import EngineMissing, ServerFailed
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from tests.speech_server import SpeechServer, tone

VOICE = tone(1.0, HEARING_RATE)
KEY = "a-key-for-tests"


def remote_at(url: str, key: str = "") -> RemoteRecognizer:
    return RemoteRecognizer(Client(Access(Address.parse("ears", url), "KEY", key)), "whisper-1")


@pytest.mark.parametrize(
    ("url", "leaves"),
    [
        ("http://127.0.0.1:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://192.168.1.20/v1/", False),
        ("http://localhost:8000/v1", False),
        ("https://box.lan/v1", False),
        ("https://api.example.org/v1", True),
        ("https://8.8.8.8/v1", True),
    ],
)
def test_an_address_at_home_is_told_from_one_beyond(url: str, leaves: bool) -> None:
    assert Address.parse("ears", url).leaves_home is leaves


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "set ears.api_base to its URL"),
        ("http://api.example.org/v1", "set ears.api_base to an https address"),
        ("http://8.8.8.8/v1", "set ears.api_base to an https address"),
        ("http://[2001:4860:4860::8888]/v1", "set ears.api_base to an https address"),
        ("http://localhost.example.org/v1", "set ears.api_base to an https address"),
        ("ftp://box.lan/v1", "no URL of http or https"),
        ("box.lan:8000", "no URL of http or https"),
        ("http:///v1", "no URL of http or https"),
        ("http://box.lan:99999/v1", "no URL"),
        ("http://[::1/v1", "no URL"),
        ("https://me:secret-for-tests@api.example.org/v1", "put the key into the environment"),
        ("https://api.example.org/v1?key=secret-for-tests", "put the key into the environment"),
    ],
)
def test_an_address_that_nothing_may_be_sent_to_is_refused(url: str, says: str) -> None:
    with pytest.raises(EngineMissing, match=says) as told:
        Address.parse("ears", url)
    assert "secret-for-tests" not in str(told.value)


@pytest.mark.parametrize("beyond", [["8.8.8.8"], ["127.0.0.1", "8.8.8.8"], []])
async def test_a_name_of_the_home_that_leads_out_of_it_is_sent_nothing(
    beyond: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers name look-ups, as a guest's network does, must not be sent what is said."""
    _names_lead_to(beyond, monkeypatch)
    remote = remote_at("http://box.lan:8000/v1", KEY)
    with pytest.raises(ServerFailed, match="leads out of it, so nothing is sent"):
        await remote.transcribe(VOICE)
    await remote.close()


async def test_a_name_is_connected_to_at_the_address_that_was_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second look-up, which the one that connects would make, could lead elsewhere."""
    with SpeechServer(hears=["At home."]) as server:
        looked_up = _names_lead_to(["127.0.0.1"], monkeypatch)
        remote = remote_at(f"http://box.lan:{server.port}/v1")
        assert (await remote.transcribe(VOICE)).text == "At home."
        await remote.close()
    assert looked_up == ["box.lan"]
    assert server.requests[0].headers["host"] == f"box.lan:{server.port}"


async def test_a_certificate_is_verified_and_against_the_name_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = _certificate(tmp_path, "box.lan"), _certificate(tmp_path, "other.lan")
    _names_lead_to(["127.0.0.1"], monkeypatch)
    texts = []
    for certificate, trusted in ((own, None), (other, other), (own, own)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        with SpeechServer(hears=["In private."], tls=context) as server:
            if trusted:
                monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
            remote = remote_at(f"https://box.lan:{server.port}/v1", KEY)
            try:
                texts.append((await remote.transcribe(VOICE)).text)
            except ServerFailed as told:
                texts.append(str(told))
                assert not server.requests
            await remote.close()
    assert "is not trusted; give it a valid one" in texts[0]
    assert "is not trusted; give it a valid one" in texts[1]
    assert texts[2] == "In private."


async def test_authorities_that_cannot_be_read_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    remote = remote_at("https://127.0.0.1:9/v1")
    with pytest.raises(ServerFailed, match="correct SSL_CERT_FILE"):
        await remote.start()
    await remote.close()


def test_where_speech_goes_is_no_projects_to_decide() -> None:
    engines = ("engine", "api_base", "api_model", "api_key_variable")
    assert not any(
        keys()[f"{kind}.{name}"].by_project for kind in ("ears", "voice") for name in engines
    )


def test_a_key_that_is_not_there_or_is_none_is_told_of() -> None:
    address = Address.parse("ears", "https://api.example.org/v1")
    with pytest.raises(EngineMissing, match="SPEECH_KEY is not set in the environment"):
        Access.of(address, "SPEECH_KEY", {})
    for odd in ("two\r\nlines", "kéy"):
        with pytest.raises(EngineMissing, match="SPEECH_KEY holds what is no API key"):
            Access.of(address, "SPEECH_KEY", {"SPEECH_KEY": odd})
    assert Access.of(address, "", {"OPENAI_API_KEY": KEY}).key == ""


def _names_lead_to(addresses: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have all names that are not addresses lead there; returns those that are looked up."""
    looked_up: list[str] = []
    loop = asyncio.get_running_loop()
    real = loop.getaddrinfo

    async def getaddrinfo(host: str, port: int, **more: int) -> object:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            looked_up.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]
        return await real(host, port, **more)

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    return looked_up


def _certificate(folder: Path, name: str) -> Path:
    """A certificate that vouches for itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime.now(dt.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file

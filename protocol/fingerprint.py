"""Computes the fingerprint of a server's own authority (CA), and its words for a person to compare.

A person compares it as words. Each is sixteen bits, in syllables that can be read aloud; five of
them are too many to be met by chance, and by searching.
"""

import base64
import hashlib
import hmac
from urllib.parse import parse_qs, urlencode, urlsplit

CONSONANTS = "bdfghjklmnprstvz"
VOWELS = "aiou"
WORDS = 5
"""Eighty bits: an impostor would have to try a million million million million keys."""


def fingerprint(certificate: bytes) -> str:
    """SHA-256 of a certificate (DER), in URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(certificate).digest()).rstrip(b"=").decode()


def is_of(certificate: bytes, expected: str) -> bool:
    """Whether a certificate has this fingerprint."""
    return hmac.compare_digest(fingerprint(certificate).encode(), expected.encode())


def as_browsers_show(expected: str) -> str:
    """A fingerprint in the form that browsers and phones show: pairs of hexadecimal digits."""
    digest = base64.urlsafe_b64decode(expected + "=" * (-len(expected) % 4))
    return digest.hex(":").upper()


def words(certificate: bytes) -> str:
    """The certificate's fingerprint, as a person compares it."""
    digest = hashlib.sha256(certificate).digest()
    pairs = (int.from_bytes(digest[2 * n : 2 * n + 2], "big") for n in range(WORDS))
    return " ".join(_word(pair) for pair in pairs)


def pairing_url(address: str, code: str, expected: str) -> str:
    """What the QR code says. The secret is in the fragment, which no browser sends anywhere."""
    return f"https://{address}/#{urlencode({'pair': code, 'ca': expected})}"


def browser_url(address: str, code: str) -> str:
    """The same for a browser on the server's own machine, which needs no certificate."""
    return f"http://{address}/#{urlencode({'pair': code})}"


def read_pairing_url(url: str) -> tuple[str, str, str] | None:
    """Address, code and fingerprint; none if it is no such URL."""
    parts = urlsplit(url.strip())
    fields = parse_qs(parts.fragment)
    code, expected = fields.get("pair", [""])[0], fields.get("ca", [""])[0]
    if parts.scheme != "https" or not (parts.netloc and code and expected):
        return None
    return parts.netloc, code, expected


def code_of(url: str) -> str:
    """The code in what pairing shows, for a browser on the server's own machine or for others."""
    return parse_qs(urlsplit(url.strip()).fragment).get("pair", [""])[0]


def _word(bits: int) -> str:
    return (
        CONSONANTS[bits >> 12 & 15]
        + VOWELS[bits >> 10 & 3]
        + CONSONANTS[bits >> 6 & 15]
        + VOWELS[bits >> 4 & 3]
        + CONSONANTS[bits & 15]
    )

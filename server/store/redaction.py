"""Removes secrets from text before it reaches logs, audits, exports or the model.

What is known to be a secret by its form is replaced: keys of providers, tokens, passwords in
addresses and assignments, private keys; and the very values that the server's environment has under
a secret's name, whatever they look like. What merely might be one is left: a text full of holes is
of no use, and a person reads it before handing it on.
"""

import os
import re
from typing import Final

HIDDEN: Final = "[redacted]"

LONGEST_SECRET: Final = 4_096
"""Characters on either side of a part of a text that are looked at, so that it shows no part of a
secret."""

_CHARS: Final = r"A-Za-z0-9_\-"
_PART: Final = r"[A-Za-z0-9_-]{8,4096}"
"""Of a web token. Whatever is looked for from many beginnings has a bound, or a long text without
spaces would take the square of its length, and with it the time of everybody."""
_NAMES: Final = r"pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key"

_OWN_TOKEN: Final = (
    rf"(?<![{_CHARS}/+.])(?=[{_CHARS}]*[a-z])(?=[{_CHARS}]*[A-Z])"
    rf"[{_CHARS}]{{43}}(?![{_CHARS}/+=.])"
)
_NO_CALL: Final = r"(?!\[redacted\])(?![\w.]+\()"

_SECRETS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Private keys, whole or cut off in the middle.
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        # What providers' keys begin with: OpenAI, Anthropic, Stripe; Groq; xAI; Hugging Face;
        # GitHub; GitLab; Slack; Google; AWS; npm; PyPI.
        r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
        r"\bgsk_[A-Za-z0-9]{20,}",
        r"\bxai-[A-Za-z0-9]{20,}",
        r"\bhf_[A-Za-z0-9]{20,}",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bglpat-[A-Za-z0-9_-]{16,}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\bAIza[A-Za-z0-9_-]{30,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\bnpm_[A-Za-z0-9]{30,}",
        r"\bpypi-[A-Za-z0-9_-]{30,}",
        # JSON Web Tokens.
        rf"\beyJ{_PART}\.[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]*",
        # Our own: 256 bits in URL-safe base64, with no word's letter on either side.
        _OWN_TOKEN,
    )
)

_AFTER: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # A header.
        r"(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}",
        # The password in an address.
        r"(\b[a-z][a-z0-9+.-]{0,31}://[^\s/:@]*:)[^\s/@]+(?=@)",
        # NAME=value, "name": "value", --name value.
        # A call is no secret.
        rf"((?:{_NAMES})[\w-]{{0,64}}[\"']?\s*(?::|=)\s*[\"']?){_NO_CALL}[^\s\"',;&)}}\]]{{6,}}",
        r"(--(?:password|token|secret|api-key)\s+)[^\s\"']{6,}",
    )
)


_SECRET_NAME: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS)$")
_SHORTEST_VALUE: Final = 8
"""Characters: what is shorter stands in many texts by chance."""


def redacted(text: str, spared: str = "") -> str:
    """The text without what is a secret by its form, or by its name in our environment.

    What stands in `spared` is left: a person's own words are theirs to give.
    """
    return redacted_part(text, 0, len(text), spared)


def redacted_part(text: str, start: int, end: int, spared: str = "") -> str:
    """What stands from `start` to `end`, without any part of a secret that begins or ends beyond
    that."""
    kept: list[str] = []
    at = start
    for first, last in _places(text, spared):
        if last <= at or first >= end:
            continue
        kept += (text[at:first], HIDDEN)  # the first is empty where the secret began before
        at = last
    return "".join((*kept, text[at:end]))


def _places(text: str, spared: str) -> list[tuple[int, int]]:
    """Where secrets stand, in order; those that touch are one."""
    found = [match.span() for secret in _SECRETS for match in secret.finditer(text)]
    found += [(match.end(1), match.end()) for after in _AFTER for match in after.finditer(text)]
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_VALUE and _SECRET_NAME.search(name):
            found += [match.span() for match in re.finditer(re.escape(value), text)]
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if spared and text[first:last] in spared:
            continue
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined

"""Takes secrets out of text that goes on: to logs, audits, exports, and to the model.

What is known to be a secret by its form is replaced: keys of providers, tokens, passwords in
addresses and assignments, private keys; and the very values that the server's environment has under
a secret's name, whatever they look like. What merely might be one is left: a text full of holes is
of no use, and whoever hands it on reads it first.
"""

import os
import re
from typing import Final

HIDDEN: Final = "[redacted]"

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


def redacted(text: str) -> str:
    """The text without what is a secret by its form, or by its name in our environment."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_VALUE and _SECRET_NAME.search(name):
            text = text.replace(value, HIDDEN)
    for secret in _SECRETS:
        text = secret.sub(HIDDEN, text)
    for secret in _AFTER:
        text = secret.sub(lambda match: match[1] + HIDDEN, text)
    return text

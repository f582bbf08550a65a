"""Addresses, paths, versions and the names of programmers' things, as one reads them to somebody.

What is on the screen anyway is said short: of an address its host, of a long path its last part.
"""

import re

from sayso.server.speech.text.numbers import cardinal, digits, letters, words_for
from sayso.server.speech.text.rule import ENDS, NOT_INSIDE, Rule, rule

SHORT_PATH = 2
"""Parts of a path that are all said."""

MINOR_DIGITS = 2
"""Digits of a part of a version that begins with zero: 22.04 is "twenty-two point oh four"."""

DOMAIN_ENDS = (
    "com|org|net|edu|gov|mil|int|io|dev|ai|app|info|biz|co|me|tv|uk|de|fr|es|it|nl|eu|us|ca|au|jp|cn"
    "|in|br|ch|at|se|no|dk|fi|pl|cz|be|pt|ie|nz|ru|kr|local|home"
)

SAID_ENDS = {
    "com",
    "org",
    "net",
    "edu",
    "gov",
    "mil",
    "dev",
    "app",
    "info",
    "biz",
    "me",
    "local",
    "home",
}
"""Ends of addresses that are words; the others are spelled."""

EXTENSIONS = (
    "py|pyi|ipynb|js|mjs|ts|tsx|jsx|json|jsonl|html|htm|css|md|txt|csv|tsv|xml|yaml|yml|toml|ini|cfg|conf"
    "|log|sh|bash|zsh|bat|ps1|exe|dll|so|c|h|cc|cpp|hpp|cs|java|kt|go|rs|rb|php|swift|lua|sql|db|sqlite"
    "|pdf|doc|docx|xls|xlsx|ppt|pptx|odt|png|jpg|jpeg|gif|svg|webp|bmp|mp3|mp4|wav|ogg|flac|mkv|avi|mov"
    "|zip|tar|gz|tgz|bz2|xz|7z|rar|deb|rpm|dmg|iso|apk|whl|lock|env|bak|tmp|onnx|gguf|bin"
)

SAID_EXTENSIONS = {
    "py": "pie",
    "json": "JSON",
    "jsonl": "JSON L",
    "zip": "zip",
    "log": "log",
    "bash": "bash",
    "go": "go",
    "java": "java",
    "swift": "swift",
    "lua": "lua",
    "tar": "tar",
    "lock": "lock",
    "bin": "bin",
    "yaml": "YAML",
    "toml": "toml",
    "ini": "ini",
    "conf": "conf",
    "rar": "rar",
    "gif": "gif",
    "jpg": "jpeg",
    "jpeg": "jpeg",
    "mp3": "M.P three",
    "mp4": "M.P four",
    "bz2": "B.Z two",
    "7z": "seven Z",
    "ps1": "P.S one",
    "sqlite": "SQLite",
    "txt": "text",
    "env": "env",
    "iso": "iso",
    "onnx": "onnx",
    "sql": "SQL",
}

KEYS = {
    "ctrl": "control",
    "cmd": "command",
    "opt": "option",
    "esc": "escape",
    "del": "delete",
    "win": "Windows",
    "\u2318": "command",
    "\u2325": "option",
    "\u21e7": "shift",
}

VERSIONED = (
    "version|Version|release|Release|Python|python|Debian|Ubuntu|Fedora|Node|node|macOS|iOS|Android"
    "|Windows|PHP|Java|Ruby|Go|Rust|Perl|GCC|CUDA|Django|Flask|numpy|NumPy|pandas|PyTorch|Qt|Claude"
    "|GPT|Llama|Whisper|Kubernetes|Docker|Linux|kernel|Postgres|PostgreSQL|SQLite|MySQL|Sayso|USB|HTTP"
)


def words_of(name: str) -> str:
    """A programmer's name as words: `get_user_by_id`, `getUserById`, `--dry-run`."""
    if name.isupper() and "_" in name:
        name = name.lower()
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.sub(r"[_\-]+", " ", name).split())


def file_name(name: str) -> str:
    """report_final.pdf → report final dot PDF."""
    stem, dot, end = name.rpartition(".")
    if not dot:
        return words_of(name)
    if not re.fullmatch(EXTENSIONS, end, re.IGNORECASE):
        return " dot ".join(words_of(part) for part in name.split(".") if part)
    said = SAID_EXTENSIONS.get(end.lower(), end.upper())
    parts = [file_name(stem) if "." in stem else words_of(stem)] if stem else []
    return " dot ".join([*parts, said] if parts else ["", said]).strip()


def host(name: str) -> str:
    """www.example.co.uk → example dot C.O dot U.K."""
    parts = name.lower().removeprefix("www.").split(".")
    said = [words_of(part) for part in parts[:1]]
    for part in parts[1:]:
        known = part in SAID_ENDS or not re.fullmatch(DOMAIN_ENDS, part)
        said.append(words_of(part) if known else letters(part))
    return " dot ".join(said)


def version(text: str) -> str:
    """3.11.4 → three point eleven point four."""
    said: list[str] = []
    for part in text.split("."):
        if part.startswith("0") and len(part) == MINOR_DIGITS:
            said.append(f"oh {words_for(int(part))}" if part != "00" else "oh oh")
        else:
            said.append(digits(part) if part.startswith("0") else cardinal(int(part)))
    return " point ".join(said)


def path(text: str) -> str:
    """A short path in full, of a long one the last part."""
    parts = [part for part in re.split(r"[/\\]", text) if part not in ("", ".", "..", "~")]
    if not parts:
        return {"~": "home", "~/": "home", "..": "the folder above", ".": "this folder"}.get(
            text.rstrip("/") or "/", "slash"
        )
    if len(parts) > SHORT_PATH or re.match(r"[A-Za-z]:", text):
        return file_name(parts[-1])
    lead = "slash " if text.startswith("/") else ""
    return lead + " slash ".join(file_name(part) for part in parts)


def _release(match: re.Match[str]) -> str:
    said = version(match[1])
    if match[2]:
        name = {"rc": "release candidate", "a": "alpha", "b": "beta"}.get(match[2], match[2])
        said += f" {name}"
    return f"{said} {cardinal(int(match[3]))}" if match[3] else said


def _v_release(match: re.Match[str]) -> str:
    return f"version {_release(match)}"


def _mail(match: re.Match[str]) -> str:
    box = " dot ".join(words_of(part) for part in match[1].split("."))
    return f"{box.replace('+', ' plus ')} at {host(match[2])}"


def _number_address(match: re.Match[str]) -> str:
    said = " dot ".join(cardinal(int(part)) for part in match[1].split("."))
    return f"{said} port {cardinal(int(match[2]))}" if match[2] else said


def _site(match: re.Match[str]) -> str:
    said = host(match[1])
    folders = [part for part in (match[2] or "").split("/") if part]
    if len(folders) == 1:
        said += f" slash {file_name(folders[0])}"
    return said


def _keys(match: re.Match[str]) -> str:
    keys = [key for key in re.split(r"\s*[+\-]\s*", match[0]) if key]
    return " ".join(KEYS.get(key.lower(), key) for key in keys)


def _dotted(match: re.Match[str]) -> str:
    return " dot ".join(words_of(part) for part in match[1].split("."))


def _flag(match: re.Match[str]) -> str:
    dashes = "dash dash" if match[1] == "--" else "dash"
    return f"{dashes} {words_of(match[2])}"


RELEASE = r"(\d+(?:\.\d+)+)(?:[-.]?(rc|alpha|beta|a|b|dev|post)\.?(\d+)?)?"
NAMED_BEFORE = "|".join(f"(?<={name} )" for name in VERSIONED.split("|"))
HEX = "[0-9a-f]"

RULES: list[Rule] = [
    rule(
        r"\b(?:https?|ftp|wss?)://(?:[^\s/@]+@)?([\w.-]+)(?::\d+)?(?:/[^\s<>\"]*)?(?<![.,;:!?)\]'])",
        lambda m: host(m[1]),
    ),
    rule(r"\b([\w.+-]+)@((?:[\w-]+\.)+[a-zA-Z]{2,})\b", _mail),
    rule(NOT_INSIDE + r"(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{1,5}))?" + ENDS, _number_address),
    rule(r"\blocalhost(?::(\d{1,5}))\b", lambda m: f"local host port {cardinal(int(m[1]))}"),
    rule(rf"\b{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}\b", "a long identifier", re.IGNORECASE),
    rule(rf"\b(?={HEX}*\d)(?={HEX}*[a-f]){HEX}{{12,}}\b", "a long code"),
    rule(
        rf"(?<![\w@/.-])((?:[a-zA-Z0-9][\w-]*\.)+(?:{DOMAIN_ENDS}))(?::\d+)?(/[\w./%#?=&~-]*\w)?/?(?![\w.]*\w)",
        _site,
    ),
    rule(r"(?<!\w)[A-Za-z]:\\(?:[\w .-]+\\)*[\w.-]+", lambda m: path(m[0])),
    rule(
        r"(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*(?:[\w@+-]|\.\w)+(?:\.\w+)*/?",
        lambda m: path(m[0]),
    ),
    rule(r"(?<![\w/.])~/?(?=[\s,.;:!?)]|$)", "home"),
    rule(rf"(?<![\w/.])(?:[\w.-]+/)+[\w-]+\.(?:{EXTENSIONS})\b", lambda m: path(m[0])),
    rule(r"(?<![\w/.])(?=[\d./-]*[A-Za-z])(?:[\w.-]+/){2,}[\w.-]*\w/?", lambda m: path(m[0])),
    rule(
        rf"(?<![\w/])\.?[\w-]+(?:\.[\w-]+)*\.(?:{EXTENSIONS})\b(?!\.\w)", lambda m: file_name(m[0])
    ),
    rule(
        r"\b(?:Ctrl|Control|Cmd|Command|Alt|Option|Opt|Shift|Super|Win|Meta|Fn)"
        r"(?: ?\+ ?|-)(?:(?:Ctrl|Alt|Option|Shift|Cmd)(?: ?\+ ?|-))*(?:F\d+|[A-Z][a-z]+|\w)\b",
        _keys,
        re.IGNORECASE,
    ),
    rule(r"[\u2318\u2325\u21e7](?:\+?\w)\b", lambda m: f"{KEYS[m[0][0]]} {m[0].lstrip('+')[-1]}"),
    rule(r"(?<!\S)(--|-)([a-zA-Z][\w-]*)\b", _flag),
    rule(
        r"\bC\+\+(?:(\d\d)\b)?",
        lambda m: "C plus plus" + (f" {cardinal(int(m[1]))}" if m[1] else ""),
    ),
    rule(r"\b([CFJ])#(?!\w)", lambda m: f"{m[1]} sharp"),
    rule(r"(?<!\w)\.(NET|env|gitignore|bashrc|profile)\b", lambda m: f"dot {m[1]}"),
    rule(r"\bv" + RELEASE + r"\b", _v_release),
    rule(r"\bv(\d+)()()\b", _v_release),
    rule(rf"(?:{NAMED_BEFORE})v?{RELEASE}\b", _release),
    rule(NOT_INSIDE + r"(?=\d+\.\d+\.\d)" + RELEASE + r"\b", _release),
    rule(r"\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(\)", _dotted),
    rule(r"(?<![\w.])([a-z_]\w+(?:\.[a-z_]\w+)+)\b", _dotted),
    rule(r"\b\w*[^\W_]_\w*\b|\b_+\w+\b", lambda m: words_of(m[0])),
    rule(r"\b[a-z]{2,}(?:[A-Z][a-z0-9]+)+\b", lambda m: words_of(m[0]).lower()),
    rule(r"\b[wW]/o\b", "without"),
    rule(r"\b[wW]/(?= ?\w)", "with "),
    rule(r"\b([a-zA-Z]+)/([a-zA-Z]+)\b(?!/)", lambda m: f"{m[1]} {m[2]}"),
]

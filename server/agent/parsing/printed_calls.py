"""Calls that a model wrote in its own way: broken JSON, wrong names, `functions.execute(…)`.

Weak models know what they want and cannot quite write it down. Everything here is a guess at what
was meant, from the strict to the lenient; what cannot be understood is None, never half a guess.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.prompt.language_names import DEFAULT, Languages

CALL_KEYS: Final = frozenset(
    {"language", "code", "name", "function", "tool", "arguments", "parameters", "type"}
)
"""How an object that is a call can begin."""

_TOOL_NAMES: Final = frozenset({"execute", "run", "execute_code", "run_code", "code", "functions"})

_CODE_TO_THE_END: Final = re.compile(
    r"""["']?code["']?\s*[:=]\s*"(?P<code>.*?)"""
    r"""(?:"\s*+(?:,\s*+["']?language["']?\s*+[:=]\s*+["']\w*+["']?\s*+)?+\}*+\s*+)?$""",
    re.DOTALL,
)
_LANGUAGE: Final = re.compile(r"""["']?language["']?\s*[:=]\s*["'](\w+)["']""")
_BARE_KEY: Final = re.compile(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/"}


@dataclass(frozen=True, slots=True)
class PrintedCall:
    """Code that a model wants run."""

    language: str
    code: str


def read_tool_call(name: str, arguments: str, languages: Languages) -> PrintedCall | None:
    """What a tool call meant, whatever it is named and however its arguments are written."""
    short = name.removeprefix("functions.").strip().lower()
    own = languages.resolve(short) if short and short not in _TOOL_NAMES else None
    wanted = _read(arguments, languages, own)
    if wanted is None and own is not None and not arguments.lstrip().startswith("{"):
        return PrintedCall(own, arguments)
    return wanted


def read_printed(text: str, languages: Languages) -> PrintedCall | None:
    """What text that looks like a call meant: an object, or `execute(…)` around one."""
    text = text.strip().removeprefix("<tool_call>").removesuffix("</tool_call>").strip()
    named = re.match(r"(?:functions\.)?execute\s*\(", text)
    if named is None:
        return _read(text, languages, None)
    inner = text[named.end() :].removesuffix(")").strip()
    return _read_python_call(text, languages) or _read(inner, languages, None)


def _read(text: str, languages: Languages, language: str | None) -> PrintedCall | None:
    value = _load(text)
    if value is not None:
        return _from_value(value, languages, language)
    return _salvage(text, languages, language)


def _load(text: str) -> object:
    """The value of JSON, or of what is nearly JSON; None if it is neither."""
    for candidate in (text, _BARE_KEY.sub(r'\1"\2"\3', text)):
        try:
            return cast(object, read_json(candidate, control_characters=True))
        except UntrustedJsonError:
            continue
    try:
        return cast(object, ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _from_value(value: object, languages: Languages, language: str | None) -> PrintedCall | None:
    if isinstance(value, str):  # arguments encoded twice
        return _read(value, languages, language) if value.lstrip().startswith("{") else None
    if not isinstance(value, Mapping):
        return None
    inner = value.get("arguments", value.get("parameters", value.get("function")))
    if "code" not in value and inner is not None:
        return _from_value(inner, languages, language)
    code, label = value.get("code"), value.get("language", language or DEFAULT)
    if not isinstance(code, str) or not isinstance(label, str):
        return None
    return PrintedCall(languages.resolve(label) or label, code)


def _read_python_call(text: str, languages: Languages) -> PrintedCall | None:
    """`execute(language="python", code="…")` and `execute("python", "…")`."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        given: dict[str, object] = {
            keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg
        }
        positions = [ast.literal_eval(argument) for argument in call.args]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if len(positions) == 1 and isinstance(positions[0], Mapping):
        return _from_value(positions[0], languages, None)
    names = ("language", "code") if len(positions) > 1 else ("code",)
    return _from_value({**dict(zip(names, positions, strict=False)), **given}, languages, None)


def _salvage(text: str, languages: Languages, language: str | None) -> PrintedCall | None:
    """Arguments that broke off, or whose code holds unescaped quotes."""
    found = _CODE_TO_THE_END.search(text)
    if found is None:
        return None
    label = _LANGUAGE.search(text)
    name = label.group(1) if label else language or DEFAULT
    return PrintedCall(languages.resolve(name) or name, _unescape(found.group("code")))


def _unescape(text: str) -> str:
    whole = re.sub(r"\\u[0-9a-fA-F]{0,3}$|(?<!\\)((?:\\\\)*)\\$", r"\1", text)
    return re.sub(
        r"\\(u([0-9a-fA-F]{4})|.)",
        lambda found: (
            chr(int(found.group(2), 16))
            if found.group(2)
            else _ESCAPES.get(found.group(1), found.group(0))
        ),
        whole,
        flags=re.DOTALL,
    )


class CallScanner:
    """Finds the end of a call: where its brackets, outside of its strings, are closed again."""

    def __init__(self) -> None:
        self._at = 0
        self._depth = 0
        self._quote = ""
        self._escaped = False

    def find_end(self, text: str) -> int | None:
        """Look at what came since; tell where the call ends, if it does."""
        while self._at < len(text):
            character = text[self._at]
            self._at += 1
            if self._quote:
                self._read_in_string(character)
            elif character in "\"'":
                self._quote = character
            elif character in "({[":
                self._depth += 1
            elif character in ")}]":
                self._depth -= 1
                if self._depth <= 0:
                    return self._at
        return None

    def _read_in_string(self, character: str) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == self._quote:
            self._quote = ""

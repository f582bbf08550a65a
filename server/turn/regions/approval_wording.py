"""Words an approval for the ear: what it is about in one sentence, or whole for who sees nothing.

The server reads what is asked for, and never the model: a command that is simple enough is told as
what it does, anything else by how long it is and what it was warned of. English and German; other
languages have their usual question.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sayso.protocol.messages import ApprovalRequest
from sayso.server.turn.events import Joined
from sayso.server.turn.regions import spoken_code

LONGEST_READ = 240
"""Characters of code that are read aloud whole: a quarter of a minute, and as much as one can keep
in mind."""
MOST_LINES = 4
"""Of code that is read aloud."""
INSTRUCTIONS = "instructions"
"""Stands for the language where it is asked whether a folder's instructions are followed."""
SHELLS = frozenset({"bash", "shell", "sh", "zsh"})

_LIVE = re.compile(r"[;&|<>$`(){}*?\[\]!#\\\n=]")
"""What makes more of a shell's line than a command and its words."""
_NAME = re.compile(r"\w[\w.@+-]{0,39}")
"""A name that can be said and is one word: what it is made of could be a sentence of its own."""


@dataclass(frozen=True, slots=True)
class _Language:
    ask: str
    """Around what is done: "May I {do}?"."""
    doing: Mapping[str, str]
    """By program: what it does, with {what}, or {first} and {second}."""
    access: Mapping[str, str]
    run: str
    runs: str
    here: str
    home: str
    both: str
    follow: str
    own: Mapping[str, str]
    """By tool whose name is no language: what it does."""
    on_a_screen: str
    opens: str
    it_is: str
    it_may: str


_EN = _Language(
    ask="May I {do}?",
    doing={
        "ls": "list {what}",
        "cat": "show {what}",
        "head": "show the beginning of {what}",
        "tail": "show the end of {what}",
        "mkdir": "make the folder {what}",
        "touch": "make the file {what}",
        "rm": "delete {what}",
        "rmdir": "delete the empty folder {what}",
        "cp": "copy {first} to {second}",
        "mv": "move {first} to {second}",
        "date": "look at the clock",
        "pwd": "see in which folder this is",
        "df": "see how full the disk is",
    },
    access={"read": "read {what}", "write": "read and write {what}", "host": "reach {what}"},
    run="run a line of {language}",
    runs="run {lines} lines of {language}",
    here="this folder",
    home="your home folder",
    both=" and ",
    follow="keep to the instructions of this folder",
    own={
        "patch": "change files as the screen shows",
        "rename": "change files as the screen shows",
        "tests": "run the tests",
        "commit": "commit this",
        "helpers": "let helpers work on this",
        "take_over": "take over what the helpers did",
    },
    on_a_screen="Please answer on a screen.",
    opens="This would open, until this conversation is closed: {code}.",
    it_is="This is the {language}: {code}.",
    it_may="It may {touch}.",
)
_DE = _Language(
    ask="Darf ich {do}?",
    doing={
        "ls": "{what} auflisten",
        "cat": "{what} zeigen",
        "head": "den Anfang von {what} zeigen",
        "tail": "das Ende von {what} zeigen",
        "mkdir": "den Ordner {what} anlegen",
        "touch": "die Datei {what} anlegen",
        "rm": "{what} löschen",
        "rmdir": "den leeren Ordner {what} löschen",
        "cp": "{first} nach {second} kopieren",
        "mv": "{first} nach {second} verschieben",
        "date": "auf die Uhr sehen",
        "pwd": "nachsehen, welcher Ordner das ist",
        "df": "nachsehen, wie voll die Platte ist",
    },
    access={
        "read": "{what} lesen",
        "write": "{what} lesen und beschreiben",
        "host": "{what} erreichen",
    },
    run="eine Zeile {language} ausführen",
    runs="{lines} Zeilen {language} ausführen",
    here="diesen Ordner",
    home="deinen Heimatordner",
    both=" und ",
    follow="mich an die Anweisungen dieses Ordners halten",
    own={
        "patch": "Dateien ändern, wie der Bildschirm zeigt",
        "rename": "Dateien ändern, wie der Bildschirm zeigt",
        "tests": "die Tests ausführen",
        "commit": "das einchecken",
        "helpers": "Helfer daran arbeiten lassen",
        "take_over": "übernehmen, was die Helfer getan haben",
    },
    on_a_screen="Bitte antworte auf einem Bildschirm.",
    opens="Das würde, bis dieses Gespräch geschlossen wird, öffnen: {code}.",
    it_is="Das ist der Code, in {language}: {code}.",
    it_may="Er darf: {touch}.",
)
_LANGUAGES = {"en": _EN, "de": _DE}

_HARMLESS: Mapping[str, str] = {"ls": "laAhtrSR1", "mkdir": "pv", "rm": "rfiv", "cp": "rva"}
"""Options that change nothing of what is told, by program; with others more is to be said."""
_MANY = 99
_COUNTS: Mapping[str, range] = {
    "ls": range(_MANY),
    **dict.fromkeys(("date", "pwd", "df"), range(1)),
    **dict.fromkeys(("cp", "mv"), range(2, 3)),
}
"""How many names a program must have to be told so; the others at least one."""


def in_one_sentence(request: ApprovalRequest, language: str) -> str:
    """What it is about, as a question; empty where this language has no words for it."""
    words = _LANGUAGES.get(language.partition("-")[0].lower())
    if words is None:
        return ""
    question = words.ask.format(do=_doing(request, words))
    if request.tap:
        return f"{question} {words.on_a_screen}"
    return " ".join((*request.warnings[:1], question))


def whole(request: ApprovalRequest, language: str) -> str:
    """All of it, for a person who sees nothing: what it is warned of, the code itself with its
    signs by name, what it may touch, and the question. Empty where it is too long to be listened
    to, or the ear cannot tell it."""
    words = _LANGUAGES.get(language.partition("-")[0].lower())
    code = request.code.strip()
    is_run = request.kind == "run"
    if words is None or len(code) > LONGEST_READ or (request.tap and is_run) or request.question:
        return ""
    lines = [line for line in code.splitlines() if line.strip()]
    if not lines or len(lines) > MOST_LINES or not all(map(str.isprintable, lines)):
        return ""
    told = [spoken_code.said(line, language) for line in lines]
    if not all(told):
        return ""
    read = (words.it_is if is_run else words.opens).format(
        language=request.language, code=". ".join(told)
    )
    touch = words.it_may.format(touch=", ".join(request.may_touch)) if request.may_touch else ""
    question = words.ask.format(do=_doing(request, words))
    return " ".join(filter(None, (*request.warnings, read, touch, question)))


def opens_by_word(request: ApprovalRequest, device: Joined) -> bool:
    """Whether a spoken yes at this device may let code reach more, once it was read out whole."""
    allowed = device.may_open and device.may_approve and request.kind == "access"
    return allowed and bool(whole(request, device.language))


def _doing(request: ApprovalRequest, words: _Language) -> str:
    if request.language == INSTRUCTIONS:
        return words.follow
    if request.kind == "access":
        return words.both.join(_reaching(line, words) for line in request.code.splitlines())
    if request.language in SHELLS and (told := _command(request.code, words)):
        return told
    if own := words.own.get(request.language):
        return own
    lines = len(request.code.strip().splitlines())
    named = words.run if lines <= 1 else words.runs
    return named.format(lines=lines, language=_capital(request.language))


def _reaching(line: str, words: _Language) -> str:
    verb, _, what = line.partition(" ")
    template = words.access.get(verb)
    told = what if verb == "host" else _called(what, words)
    return template.format(what=told) if template and told else line


def _command(code: str, words: _Language) -> str:
    """What one simple command does; empty if that cannot be told for certain."""
    line = code.strip()
    if _LIVE.search(line):
        return ""
    try:
        program, *rest = shlex.split(line)
    except ValueError:
        return ""
    options = [word for word in rest if word.startswith("-")]
    names = [word for word in rest if not word.startswith("-")]
    known = frozenset(_HARMLESS.get(program, ""))
    if any(word.startswith("--") or not set(word[1:]) <= known for word in options):
        return ""
    template = words.doing.get(program)
    if template is None or len(names) not in _COUNTS.get(program, range(1, _MANY)):
        return ""
    called = [_called(name, words) for name in names] or [words.here]
    if not all(called):
        return ""
    first, second = called[0], called[-1]
    return template.format(what=_listed(called, words), first=first, second=second)


def _listed(names: Sequence[str], words: _Language) -> str:
    return words.both.join(filter(None, (", ".join(names[:-1]), names[-1])))


def _called(path: str, words: _Language) -> str:
    """How a place is called in speech; empty if its name cannot be said."""
    if path in (".", "./"):
        return words.here
    if path.rstrip("/") == "~":
        return words.home
    name = path.rstrip("/").rpartition("/")[2]
    return name if _NAME.fullmatch(name) and name != ".." else ""


def _capital(language: str) -> str:
    return language if language in SHELLS else language.capitalize()

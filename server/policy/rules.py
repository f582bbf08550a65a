"""A person's own rules, as they stand in the settings: one text each, with examples that are tried.

    deny command git push --force
    matches: git push --force origin main
    spares: git push origin main

First comes what to do (`allow`, `ask`, `deny`) and about what (`command`, `path`, `host`,
`language`). `in: python` may follow, for rules about one language alone. Every rule needs examples
of both kinds; they are read as the rule's language, or as shell code. A rule whose example does not
hold is refused, so that nobody relies on a rule that does not mean what they thought.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, cast, get_args

from sayso.server.policy.actions import UNKNOWN, Actions, Command, home_as_tilde, normal
from sayso.server.policy.code_reader import PYTHON, read

Verdict = Literal["allow", "ask", "deny"]
About = Literal["command", "path", "host", "language"]
Match = Literal["yes", "perhaps", "no"]

MOST: Final = 200
"""Rules: more are a program, not a policy; each is tried on all code."""

_SHELL: Final = frozenset(("sh", "bash", "zsh", "shell", "dash"))


class RuleError(Exception):
    """A rule cannot be used; the message is one sentence that names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    verdict: Verdict
    about: About
    what: str
    language: str = ""
    matches: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.verdict} {self.about} {self.what}"

    def applies_to(self, language: str) -> bool:
        """Whether the rule is about code of this language."""
        return not self.language or _family(self.language) == _family(language)

    def match(self, language: str, actions: Actions, home: str = "") -> Match:
        """Whether code that does this is what the rule is about."""
        if not self.applies_to(language):
            return "no"
        match self.about:
            case "language":
                return "yes" if _family(self.what) == _family(language) else "no"
            case "command":
                return _strongest(self._command(command) for command in actions.commands)
            case "path":
                return _strongest(self._path(each.path, home) for each in actions.paths)
            case "host":
                return _strongest(self._host(host) for host in actions.hosts)

    def covers(self, command: Command) -> bool:
        """Whether an `allow` is certainly about this: the very words, from the first on."""
        wanted = self.what.split()
        given = command.words[: len(wanted)]
        return len(given) == len(wanted) and all(
            UNKNOWN not in word and fnmatchcase(word, pattern)
            for word, pattern in zip(given, wanted, strict=True)
        )

    def covers_path(self, path: str, home: str = "") -> bool:
        """Whether an `allow` is certainly about this place."""
        return self.about == "path" and self._path(path, home) == "yes"

    def _command(self, command: Command) -> Match:
        """In this order, whatever stands between: `git -C x push` is a `git push`."""
        name, *wanted = self.what.split()
        if not fnmatchcase(command.name, name):
            return "perhaps" if UNKNOWN in command.name else "no"
        rest = list(command.words[1:])
        for pattern in wanted:
            if pattern.startswith("-"):
                if not _has_option(command, pattern):
                    return "perhaps" if _has_unknown(command) else "no"
                continue
            at = next((i for i, word in enumerate(rest) if fnmatchcase(word, pattern)), None)
            if at is None:
                return "perhaps" if _has_unknown(command) else "no"
            rest = rest[at + 1 :]
        return "yes"

    def _path(self, path: str, home: str) -> Match:
        named = home_as_tilde(normal(path), home)
        wanted = home_as_tilde(normal(self.what), home)
        known = named.partition(UNKNOWN)[0]
        if known != named:
            return "perhaps" if wanted.startswith(known) or _below(known, wanted) else "no"
        if fnmatchcase(named, wanted) or _below(named, wanted):
            return "yes"
        fixed = named.partition("*")[0].partition("?")[0].partition("[")[0]
        if fixed != named and wanted.startswith(fixed):
            return "perhaps"
        return "perhaps" if _below(wanted, named) else "no"

    def _host(self, host: str) -> Match:
        wanted = self.what.lower()
        if wanted.startswith("*.") and (host.endswith(wanted[1:]) or host == wanted[2:]):
            return "yes"
        return "yes" if host == wanted else "no"


def parse(text: str) -> Rule:
    """A rule from its text. Raises RuleError; the examples are not tried yet."""
    first, *rest = [line.strip() for line in text.strip().splitlines() if line.strip()] or [""]
    verdict, about, what = (*first.split(maxsplit=2), "", "", "")[:3]
    if verdict not in get_args(Verdict) or about not in get_args(About) or not what:
        raise RuleError(
            f'The rule "{first[:80]}" cannot be read; begin it like "deny command git push".'
        )
    fields: dict[str, list[str]] = {"in": [], "matches": [], "spares": []}
    for line in rest:
        key, colon, value = line.partition(":")
        if key not in fields or not colon or not value.strip():
            raise RuleError(
                f'The rule "{first}" has the line "{line[:80]}";'
                ' after the first line come "in:", "matches:" and "spares:".'
            )
        fields[key].append(value.strip())
    return Rule(
        cast(Verdict, verdict),
        cast(About, about),
        what,
        " ".join(fields["in"]),
        tuple(fields["matches"]),
        tuple(fields["spares"]),
    )


def verified(texts: Sequence[str]) -> tuple[Rule, ...]:
    """All rules, each with its examples tried. Raises RuleError."""
    if len(texts) > MOST:
        raise RuleError(f"There are {len(texts)} rules; {MOST} is the most that Sayso takes.")
    rules = tuple(map(parse, texts))
    for rule in rules:
        _verify(rule)
    return rules


def _verify(rule: Rule) -> None:
    if not rule.matches or not rule.spares:
        raise RuleError(
            f'The rule "{rule}" needs an example of what it matches ("matches: …")'
            ' and one of what it does not ("spares: …").'
        )
    for example in rule.matches:
        if not _holds(rule, example):
            raise RuleError(
                f'The rule "{rule}" does not match its example "{example}";'
                " correct the rule or the example."
            )
    for example in rule.spares:
        if _holds(rule, example):
            raise RuleError(
                f'The rule "{rule}" matches "{example}", which it should spare;'
                " correct the rule or the example."
            )


def _holds(rule: Rule, example: str) -> bool:
    if rule.about == "language":
        return rule.match(example, Actions()) == "yes"
    language = rule.language or "shell"
    if rule.about == "host" and " " not in example:
        example = f"curl https://{example}"
    actions = read(language, example)
    if rule.verdict == "allow" and rule.about == "command":
        return bool(actions.commands) and all(map(rule.covers, actions.commands))
    return rule.match(language, actions) == "yes"


def _strongest(matches: Iterable[Match]) -> Match:
    found = set(matches)
    return "yes" if "yes" in found else "perhaps" if "perhaps" in found else "no"


def _family(language: str) -> str:
    name = language.strip().lower()
    return "shell" if name in _SHELL else "python" if name in PYTHON else name


def _has_option(command: Command, wanted: str) -> bool:
    if wanted.startswith("--"):
        return wanted in command.options or wanted in command.words
    letters = {f"-{letter}" for letter in wanted[1:]}
    return wanted in command.options or letters <= command.options


def _has_unknown(command: Command) -> bool:
    return any(UNKNOWN in word for word in command.words[1:])


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/") or path == folder

"""Judges a piece of code: by the person's rules first, then by the shipped dangers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from sayso.server.policy.actions import Actions, Touched
from sayso.server.policy.code_reader import PYTHON, not_looked_into, read
from sayso.server.policy.dangers import found_in
from sayso.server.policy.hidden_code import looks
from sayso.server.policy.rules import Rule, verified

Safe = Literal["off", "ask", "auto"]
"""`ask`: what is dangerous is asked about, with what was found. `auto`: what is gravely dangerous
does not run at all."""

WARNINGS: Final = 6
"""In one question: more are not read."""
_FIRST: Final = 2
"""The worst of what code does comes before what keeps it from being seen, and the rest after."""


_ALL_OF_IT: Final = ("allow", "language")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the policy says."""

    verdict: Literal["allow", "ask", "deny", "none"] = "none"
    """`none`: no rule is about it, and the mode decides."""
    warnings: tuple[str, ...] = ()
    """What the person should know before they say yes, one sentence each."""
    reason: str = ""
    """With `deny`: why, in a sentence for the person and the model."""
    words_count: bool = False
    """With `allow`: it is allowed for what its commands are called, so they must mean just that."""

    def and_stricter(self, other: "Judgement") -> "Judgement":
        """This, with what another has against it; nothing that the other says allows anything."""
        warnings = (*self.warnings, *other.warnings)[:WARNINGS]
        if "deny" in (self.verdict, other.verdict):
            return self if self.verdict == "deny" else other
        if other.verdict == "ask":
            return replace(self, verdict="ask", warnings=warnings)
        return replace(self, warnings=warnings)


class Policy:
    """A person's rules and the shipped ones."""

    def __init__(self, rules: Sequence[str] = (), safe: Safe = "ask", home: str = "") -> None:
        """Raises RuleError where a rule's example does not hold."""
        self._rules = verified(rules)
        self._safe: Safe = safe
        self._home = home

    @property
    def denied_hosts(self) -> tuple[str, ...]:
        """Hosts that no grant opens."""
        return self._hosts("deny")

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Hosts that need no question."""
        return self._hosts("allow")

    def _hosts(self, verdict: str) -> tuple[str, ...]:
        return tuple(
            rule.what.lower()
            for rule in self._rules
            if rule.about == "host" and rule.verdict == verdict
        )

    def forbids_path(self, path: str) -> str:
        """The rule that forbids any grant of a place, or of what holds it; empty if none does."""
        touched = Actions(paths=(Touched(path, "read"),))
        for rule in self._rules:
            forbids = rule.about == "path" and rule.verdict == "deny"
            if forbids and rule.match(rule.language, touched, self._home) != "no":
                return str(rule)
        return ""

    def judge(self, language: str, code: str, known: Actions | None = None) -> Judgement:
        """Look at code that is about to run. `known`: what it does, where nobody need read that out
        of it."""
        unseen = looks(code)
        if self._safe == "off" and not self._rules:
            return Judgement(warnings=unseen)
        actions = read(language, code) if known is None else known
        dangers = found_in(actions) if self._safe != "off" else ()
        if denying := self._denying(language, actions):
            return Judgement("deny", reason=f'It was not run: your rule "{denying}" forbids it.')
        grave = next((danger for danger in dangers if danger.grave), None)
        if grave and self._safe == "auto":
            return Judgement("deny", reason=f"Safe mode did not let it run. {grave.sentence}")
        rules = self._asking(language, actions)
        # What holds for all code of a language is no news, unless a rule could be got round by it.
        usual = "" if self._has_limits else not_looked_into(language.strip().lower())
        hidden = [f"It {why}." for why in actions.unclear if why != usual]
        warnings = [danger.sentence for danger in dangers] + rules
        asks = bool(warnings) or bool(hidden and self._has_limits)
        if self._safe != "off" or self._has_limits:
            warnings += hidden
        shown = (*warnings[:_FIRST], *unseen, *warnings[_FIRST:])[:WARNINGS]
        if asks:
            return Judgement("ask", shown)
        if self._allows_language(language, actions):
            return Judgement("allow", shown)
        if self._allows_commands(language, actions):
            return Judgement("allow", shown, words_count=True)
        return Judgement(warnings=shown)

    def _denying(self, language: str, actions: Actions) -> Rule | None:
        for rule in self._rules:
            if rule.verdict == "deny" and rule.match(language, actions, self._home) == "yes":
                return rule
        return None

    def _asking(self, language: str, actions: Actions) -> list[str]:
        """What rules want the person to know."""
        found = []
        for rule in self._rules:
            match = "no" if rule.verdict == "allow" else rule.match(language, actions, self._home)
            if match == "yes":
                found.append(f'Your rule "{rule}" wants you to look at it.')
            elif match == "perhaps":
                found.append(f'It may be what your rule "{rule}" is about; that cannot be told.')
        return found

    @property
    def _has_limits(self) -> bool:
        """Whether a rule could be got round by what cannot be told."""
        return any(
            rule.verdict != "allow" and rule.about in ("command", "path") for rule in self._rules
        )

    def _allows_language(self, language: str, actions: Actions) -> bool:
        """Whether all code of this language is allowed."""
        allowing = (rule for rule in self._rules if (rule.verdict, rule.about) == _ALL_OF_IT)
        return any(rule.match(language, actions) == "yes" for rule in allowing)

    def _allows_commands(self, language: str, actions: Actions) -> bool:
        """Whether all commands of it are allowed, for certain."""
        allowing = [rule for rule in self._rules if rule.verdict == "allow"]
        commands = [
            rule for rule in allowing if rule.about == "command" and rule.applies_to(language)
        ]
        started = [command for command in actions.commands if not command.wraps]
        if not started or actions.unclear or actions.traits:
            return False
        if language.strip().lower() in PYTHON:
            return False  # it does more than start programs
        if not all(any(rule.covers(command) for rule in commands) for command in started):
            return False
        places = [each.path for each in actions.paths if each.how != "read"]
        operands = {word for command in started for word in command.operands}
        return all(
            path in operands
            or path == "/dev/null"
            or any(rule.covers_path(path, self._home) for rule in allowing)
            for path in places
        )

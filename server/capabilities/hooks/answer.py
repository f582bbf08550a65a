"""Reads what a hook said. Whatever is no answer counts as a no. Pure."""

from dataclasses import dataclass
from typing import Final, Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.protocol.visible import HIDDEN
from sayso.server.runtimes.programs.confined_command import BY_SIGNAL, NOT_FOUND, Finished

WHY_CHARS: Final = 600
"""Of a reason: it is shown, told to a model, and perhaps read aloud."""

Verdict = Literal["none", "ask", "deny"]
_VERDICTS: Final[dict[str, Verdict]] = {"allow": "none", "ask": "ask", "deny": "deny"}
"""What a hook may say. Nothing that it says allows what would be asked about."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook has against something."""

    verdict: Verdict
    why: str = ""
    """Without a full stop where it is ours; in the hook's own words where it gave any."""
    failed: bool = False
    """It gave no answer; `why` is ours."""


def read_answer(finished: Finished) -> HookAnswer:
    """The answer of a hook that has ended: nothing, or one JSON object with `verdict` (`allow`,
    `ask` or `deny`) and `why`."""
    said = _text(finished.out)
    if finished.code:
        return HookAnswer("deny", _reason(finished, said), finished.code == NOT_FOUND)
    if finished.is_cut:
        return HookAnswer("deny", "it said more than an answer can be", failed=True)
    if not said:
        return HookAnswer("none")
    try:
        answer = read_json(said)
    except UntrustedJsonError:
        answer = None
    verdict = _VERDICTS.get(str(answer.get("verdict"))) if isinstance(answer, dict) else None
    if verdict is None or not isinstance(answer, dict):
        shown = said.splitlines()[0][:80]
        why = f"it said “{shown}”, and a hook says nothing, or JSON with allow, ask or deny"
        return HookAnswer("deny", why, failed=True)
    return HookAnswer(verdict, _bounded(str(answer.get("why", ""))))


def words_of(finished: Finished) -> str:
    """All that it said, for hooks whose words are told."""
    both = (_text(finished.out), _text(finished.errors))
    return _bounded("\n".join(filter(None, both)))


def _reason(finished: Finished, said: str) -> str:
    try:
        answer = read_json(said)
    except UntrustedJsonError:
        answer = None
    why = answer.get("why") if isinstance(answer, dict) else None
    if isinstance(why, str) and why.strip():
        return _bounded(why)
    if words := _bounded(_text(finished.errors) or said):
        return words
    if finished.code > BY_SIGNAL:
        return f"it was ended by the signal {finished.code - BY_SIGNAL}"
    return f"it ended with {finished.code}"


def _text(said: bytes) -> str:
    return HIDDEN.sub("", said.decode(errors="replace")).strip()


def _bounded(text: str) -> str:
    """The end of it, where programs say what counts."""
    text = text.strip()
    return text if len(text) <= WHY_CHARS else f"…{text[1 - WHY_CHARS :]}"

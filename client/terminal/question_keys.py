"""How a question is put at a terminal: in one sentence, and with which keys it is answered."""

from collections.abc import Mapping
from typing import Final

from sayso.protocol.messages import ApprovalRequest

_OWN_WORDS: Final[Mapping[str, str]] = {
    "patch": "May I change files like this?",
    "rename": "May I change files like this?",
    "tests": "May I run the tests?",
    "commit": "May I commit this?",
    "helpers": "May helpers do this?",
    "take_over": "May I take this over?",
}
"""Of tools whose name is no language."""


def asked(request: ApprovalRequest) -> str:
    """What is asked, as it came; a screen shows it as it shows all that others worded."""
    if request.question:
        return request.question
    if request.kind == "access":
        return "May code reach more?"
    return _OWN_WORDS.get(request.language, f"May I run this {request.language}?")


def answers_to(request: ApprovalRequest) -> dict[str, str]:
    """By letter, in the order in which they are offered. `a` is a yes to more than this once; `e`
    is for code."""
    answers = {"y": "yes"}
    if request.wider:
        answers["a"] = "yes, and the like"
    elif request.kind == "access":
        answers["a"] = "yes, for good"
    answers["n"] = "no"
    if request.kind == "run":
        answers["e"] = "edit"
    return answers

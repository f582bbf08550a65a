"""Decides what is said of a result when the model is too small to report it reliably.

A small model computes well by code and then misreports what it computed. So its sentence is held
against the question and the output: if it does not take up the question and state the output, or
states a number that is in neither, a plain sentence of the profile's is said instead. Where there
is nothing to put into words (a picture, a long table, an error) the model is not asked. Pure.
"""

import re
from typing import Final

from sayso.server.agent.limits import last_line
from sayso.server.agent.prompt.profiles import PlainAnswers
from sayso.server.agent.record.conversation_history import Act

_SAYABLE_CHARS: Final = 80
"""More than this is read, not heard."""

_DECIMALS: Final = 4
"""More decimals than these are not said."""

_CONTENT_LETTERS: Final = 4
"""Shorter words are mostly grammar."""

_SENTENCE_WORDS: Final = 3
"""Output of so many words is taken for a sentence."""

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"[^\W\d_]+")
_YES_OR_NO: Final = {"True": "yes", "False": "no"}


def plain_answer(act: Act, answers: PlainAnswers) -> str:
    """What to say without asking the model; empty if it is to be asked."""
    report = act.report
    if report is None or report.status == "refused":
        return answers.refused
    if report.status != "ok":
        problem = last_line(report.output) or report.detail
        return answers.failed.replace("{problem}", problem)
    output = report.output.strip()
    if not output:
        return answers.done
    sayable = len(output) <= _SAYABLE_CHARS and "\n" not in output and "[image/" not in output
    return "" if sayable else answers.shown


def checked(reply: str, asked: str, act: Act, answers: PlainAnswers) -> str:
    """The model's sentence if it states the output and nothing beyond it, else the plain one."""
    output = act.report.output.strip() if act.report else ""
    if _states(reply, asked, output):
        return _NUMBER.sub(lambda found: _plain_number(found.group()), reply)
    if len(_WORD.findall(output)) >= _SENTENCE_WORDS:
        return output  # it speaks for itself
    return answers.result.replace("{output}", _in_words(output))


def _states(reply: str, asked: str, output: str) -> bool:
    if not _content(reply) & _content(asked):
        return False
    if output in _YES_OR_NO:
        return reply.lower().startswith(_YES_OR_NO[output])
    said, computed, known = _numbers(reply), _numbers(output), set(_numbers(asked))
    stated = all(any(_rounds_to(exact, number) for number in said) for exact in computed)
    invented = [
        number
        for number in said
        if number not in known and not any(_rounds_to(exact, number) for exact in computed)
    ]
    spoken = {word.lower() for word in _WORD.findall(reply)}
    words = {word.lower() for word in _WORD.findall(output)}
    return stated and not invented and words <= spoken


def _content(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text) if len(word) >= _CONTENT_LETTERS}
    return words | set(_numbers(text))


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text))


def _rounds_to(exact: str, said: str) -> bool:
    decimals = len(said.partition(".")[2])
    return abs(float(exact) - float(said)) <= 10.0**-decimals / 2


def _in_words(output: str) -> str:
    if output in _YES_OR_NO:
        return _YES_OR_NO[output]
    words = output.strip("[]").replace("'", "")
    return _NUMBER.sub(lambda found: _plain_number(found.group()), words)


def _plain_number(number: str) -> str:
    """As a person would say it: without idle zeros, and not to the last digit."""
    if "." not in number:
        return number
    return f"{float(number):.{_DECIMALS}f}".rstrip("0").rstrip(".")

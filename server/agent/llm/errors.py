"""Words a language model's error as one sentence that says what to do.

litellm maps the same failure to different classes for different providers, so the whole chain of
causes is read: status codes, class names, and only at the end the words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

_UNREACHABLE: Final = frozenset(
    {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}
)
_TIMEOUTS: Final = frozenset({"TimeoutError", "Timeout", "APITimeoutError", "ReadTimeout"})
_NO_MODEL: Final = re.compile(
    r"LLM Provider NOT provided|model.{0,80}(not found|does not exist|not exist|unknown)|"
    r"(unknown|no such|invalid) model",
    re.IGNORECASE,
)
_NO_CREDIT: Final = re.compile(r"quota|billing|credit|insufficient.?(funds|balance)", re.IGNORECASE)
_TOO_LONG: Final = re.compile(r"context.?(length|window|size)|too many tokens", re.IGNORECASE)
_NO_KEY: Final = re.compile(r"missing.{0,30}(credentials|api.?key)", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b[\w-]{0,64}(?:sk|key|gsk|AIza|Bearer)[-_ ]?[\w*.-]{8,}", re.IGNORECASE
)
"""With what stands before it, as far as names go: without a bound a text without spaces would take
the square of its length."""

_LONGEST_QUOTE: Final = 160
"""Characters of a provider's own words: a sentence that can be spoken."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a model did not answer."""

    sentence: str
    may_pass: bool
    """Whether it is worth trying again."""
    too_long: bool = False
    """Whether less of the conversation might do."""
    after_s: float | None = None
    """How long the provider wants to be left alone, if it says."""


def explain(problem: BaseException, model: str) -> Trouble:
    """What a failure before the first delta means."""
    causes = list(_chain(problem))
    names = {type(cause).__name__ for cause in causes}
    words = " ".join(str(cause) for cause in causes[:2])
    status = _status(causes)
    if names & _UNREACHABLE:
        sentence = (
            f"The language model {model} cannot be reached; check its server and the network."
        )
        return Trouble(sentence, may_pass=False)
    if _NO_KEY.search(words):
        sentence = f"There is no API key for {model}; set it and start Sayso again."
        return Trouble(sentence, may_pass=False)
    if names & _TIMEOUTS and status != HTTPStatus.TOO_MANY_REQUESTS:
        sentence = f"The language model {model} did not answer in time; ask again in a moment."
        return Trouble(sentence, may_pass=True)
    trouble = _by_status(status, words, model, _retry_after(causes))
    return trouble or Trouble(_quoting(str(problem), model), may_pass=False)


def explain_break(model: str) -> str:
    """What a failure in mid-stream means."""
    return f"The language model {model} broke off in the middle of its answer; ask again."


def _quoting(words: str, model: str) -> str:
    """A refusal of no known kind, in the provider's own words."""
    own_words = words.rpartition("Exception - ")[2].partition("\n")[0]
    quote = _SECRET.sub("…", own_words)[:_LONGEST_QUOTE]
    return f"The language model {model} refused the request ({quote}); see `sayso doctor`."


def _by_status(status: int, words: str, model: str, after_s: float | None) -> Trouble | None:
    refused = HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN
    busy = HTTPStatus.TOO_MANY_REQUESTS
    if status in refused:
        return Trouble(f"The API key for {model} was refused; set a valid one.", may_pass=False)
    if status == HTTPStatus.PAYMENT_REQUIRED or (status == busy and _NO_CREDIT.search(words)):
        return Trouble(
            f"The account for {model} has no credit left; add some, or choose another model.",
            may_pass=False,
        )
    if status == HTTPStatus.NOT_FOUND or _NO_MODEL.search(words):
        return Trouble(
            f"There is no language model {model} where it was looked for; check its name with"
            " `sayso models`.",
            may_pass=False,
        )
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _TOO_LONG.search(words):
        return Trouble(
            f"This conversation has become too long for {model}; begin a new one.",
            may_pass=False,
            too_long=True,
        )
    if status == busy:
        return Trouble(
            f"The language model {model} takes no more requests now; wait a minute and ask again.",
            may_pass=True,
            after_s=after_s,
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Trouble(
            f"The language model {model} has trouble on its side; ask again in a moment.",
            may_pass=True,
            after_s=after_s,
        )
    return None


def _chain(problem: BaseException) -> Iterator[BaseException]:
    """The failure and what caused it, outermost first."""
    seen: set[int] = set()
    cause: BaseException | None = problem
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        inner = getattr(cause, "original_exception", None)
        cause = inner if isinstance(inner, BaseException) else cause.__cause__ or cause.__context__


def _status(causes: list[BaseException]) -> int:
    for cause in causes:
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            return status
    return 0


def _retry_after(causes: list[BaseException]) -> float | None:
    for cause in causes:
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        text = headers.get("retry-after", "")
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return float(text)
    return None

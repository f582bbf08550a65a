"""Approvals: each is asked for exactly one piece of code, can be used once, and expires.

A ruling is bound to a hash of code, language, folder and permissions. The caller that acts on it
shows what is about to run, and the ruling says whether that is what was approved.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from sayso.server.agent.calls.questions import CodeQuestions
from sayso.server.agent.events import ApprovalDone, ApprovalRequest
from sayso.server.agent.record.journal import Journal
from sayso.server.settings import defaults
from sayso.server.store.errors import StoreError
from sayso.server.store.records import ApprovalClosed, ApprovalOpened

_EXPIRES_S: Final = defaults.Approvals().expire_s

MOST_BYTES: Final = 60_000
"""Of a request as JSON: a client takes frames of 65,536 bytes if it does not say otherwise, and
what no screen shows whole nobody can approve."""

Decision = Literal["yes", "no", "edit"]
Settled = Literal["yes", "no", "edit", "expired"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to run, and what it could touch. Worked out by the server, never by the model."""

    run: str
    language: str
    code: str
    where: str
    may_touch: tuple[str, ...]
    kind: Literal["run", "access"] = "run"
    """`access`: not to run, but to reach more; `code` says what."""
    warnings: tuple[str, ...] = ()
    why: str = ""
    """With `access`, the model's reason: it is told, and binds nobody."""
    tap: bool = False
    """It opens more than the sandbox: words alone do not allow it."""
    once: bool = False
    """With `access`: it cannot be granted for good."""
    question: str = ""
    """What is asked, where that is neither whether code may run nor for more reach."""
    wider: str = ""
    """What a tap may say yes to besides, of the same kind and until the request is done; empty:
    nothing."""
    definition: str = ""
    """Of a tool that acts outside of the sandbox: the hash of what it is."""

    @property
    def bytes(self) -> int:
        """How long it is where it is shown, about."""
        parts = (self.code, self.language, self.where, self.may_touch, self.warnings, self.why)
        told = json.dumps((*parts, self.question, self.wider), ensure_ascii=False)
        return len(told.encode("utf-8", "surrogatepass"))

    @property
    def binding(self) -> str:
        """The hash that an approval is bound to."""
        parts: tuple[object, ...] = (self.code, self.language, self.where, self.may_touch)
        parts = (*parts, *filter(None, (self.definition, self.question, self.wider)))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """How a question was settled."""

    id: str
    decision: Settled | Literal["too_long"]
    by: str
    """The device that decided; empty if time did, or nobody was asked."""
    request: Proposal
    """What was ruled on, with the person's own code if it was edited."""
    lasting: bool = False
    """With more reach: for good. With a run: what was `wider`, too."""

    @property
    def settled(self) -> Settled:
        """How it is written down: what nobody was asked counts as not answered."""
        return "expired" if self.decision == "too_long" else self.decision

    @property
    def allows(self) -> bool:
        """Whether the person wants it run."""
        return self.decision in ("yes", "edit")

    def covers(self, request: Proposal) -> bool:
        """Whether exactly this was approved."""
        return self.allows and hmac.compare_digest(self.request.binding, request.binding)


@dataclass(frozen=True, slots=True)
class _Answer:
    decision: Decision
    by: str
    code: str | None
    lasting: bool


@dataclass(slots=True)
class _Question:
    asked: ApprovalRequest
    request: Proposal
    expires_at: float
    answer: asyncio.Future[_Answer]


class Approvals:
    """Where one conversation's questions lie until they are answered."""

    def __init__(
        self, journal: Journal, expires_s: float = _EXPIRES_S, *, most_bytes: float = MOST_BYTES
    ) -> None:
        self.of_code = CodeQuestions()
        """What running code asks the person, which is no approval."""
        self._journal = journal
        self._most_bytes = most_bytes
        self._expires_s = expires_s
        self._questions: dict[str, _Question] = {}

    @property
    def open(self) -> Sequence[ApprovalRequest]:
        """The questions that wait, with the seconds left to each, for a device that joins."""
        now = asyncio.get_running_loop().time()
        return [
            replace(question.asked, expires_s=max(0.0, question.expires_at - now))
            for question in self._questions.values()
        ]

    async def ask(
        self,
        request: Proposal,
        tell: Callable[[ApprovalRequest | ApprovalDone], Awaitable[None]],
    ) -> ApprovalDecision:
        """Tell the person, wait for the answer, and tell how it was settled; silence denies. Nobody
        is asked what can't be shown whole.

        Raises StoreError: an answer that could not be kept counts for nothing.
        """
        if request.bytes > self._most_bytes:
            return ApprovalDecision("", "too_long", "", request)
        question = self._question(request)
        asked = question.asked
        await self._journal.note("server", _opened(question))
        self._questions[asked.id] = question
        answer = None
        try:
            async with asyncio.timeout_at(question.expires_at):
                await tell(asked)
                answer = await question.answer
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            await self._journal.note("server", ApprovalClosed(asked.id, request.run, "cancelled"))
            raise
        finally:
            del self._questions[asked.id]
        approval = _ruled(asked.id, request, answer)
        try:
            await self._journal.note("person" if approval.by else "server", _closed(approval))
        except StoreError:
            await tell(ApprovalDone(asked.id, "cancelled", ""))
            raise
        await tell(ApprovalDone(approval.id, approval.settled, approval.by))
        return approval

    def answer(
        self,
        id: str,  # noqa: A002
        nonce: str,
        decision: Decision,
        code: str | None,
        by: str,
        *,
        lasting: bool = False,
        by_word: bool = False,
        opens: bool = False,
    ) -> bool:
        """Settle a question.

        `by_word`: it was said or typed as words. `opens`: of a device whose right it is, after the
        question was read out there. False if the question is not open, the nonce is wrong, an edit
        lacks code or edits what is no code, or if words alone would open more than the sandbox:
        that right is for reach, for once.
        """
        question = self._questions.get(id)
        if question is None or question.answer.done():
            return False
        if not hmac.compare_digest(question.asked.nonce.encode(), nonce.encode()):
            return False
        access = question.request.kind == "access"
        if decision == "edit" and (code is None or access):
            return False
        reach_for_once = opens and access and not lasting
        if decision == "yes" and by_word and question.request.tap and not reach_for_once:
            return False
        edited = code if decision == "edit" else None
        question.answer.set_result(_Answer(decision, by, edited, lasting))
        return True

    def _question(self, request: Proposal) -> _Question:
        loop = asyncio.get_running_loop()
        asked = ApprovalRequest(
            id=secrets.token_hex(8),
            nonce=secrets.token_urlsafe(16),
            language=request.language,
            code=request.code,
            where=request.where,
            may_touch=request.may_touch,
            expires_s=self._expires_s,
            kind=request.kind,
            warnings=request.warnings,
            why=request.why,
            tap=request.tap,
            question=request.question,
            wider=request.wider,
        )
        return _Question(asked, request, loop.time() + self._expires_s, loop.create_future())


def _opened(question: _Question) -> ApprovalOpened:
    request = question.request
    return ApprovalOpened(
        id=question.asked.id,
        run=request.run,
        language=request.language,
        code=request.code,
        where=request.where,
        may_touch=request.may_touch,
        binding=request.binding,
        expires_s=question.asked.expires_s,
        kind=request.kind,
        warnings=request.warnings,
        why=request.why,
        wider=request.wider,
    )


def _ruled(name: str, request: Proposal, answer: _Answer | None) -> ApprovalDecision:
    if answer is None:
        return ApprovalDecision(name, "expired", "", request)
    approved = replace(request, code=answer.code) if answer.code is not None else request
    for_good = request.kind == "access" and not request.once
    lasting = answer.lasting and (for_good or (bool(request.wider) and answer.code is None))
    return ApprovalDecision(name, answer.decision, answer.by, approved, lasting)


def _closed(approval: ApprovalDecision) -> ApprovalClosed:
    binding = approval.request.binding if approval.allows else ""
    return ApprovalClosed(
        approval.id, approval.request.run, approval.settled, approval.by, binding, approval.lasting
    )

"""Hands what a person decided to whoever asked: whether code may run, or what it wanted to know."""

from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.turn import effects

Decided = effects.AnswerApproval | effects.AnswerApprovalByWord | effects.AnswerCode


def hand_on(approvals: Approvals, effect: Decided) -> None:
    """To a question that is over, nothing happens."""
    device = effect.device
    match effect:
        case effects.AnswerApproval(answer=given):
            decision, code, lasting = given.decision, given.code, given.lasting
            approvals.answer(given.id, given.nonce, decision, code, device, lasting=lasting)
        case effects.AnswerApprovalByWord(id=name, decision=decision, opens=opens):
            nonces = [question.nonce for question in approvals.open if question.id == name]
            for nonce in nonces:
                approvals.answer(name, nonce, decision, None, device, by_word=True, opens=opens)
        case effects.AnswerCode(id=name, text=text):
            approvals.of_code.answer(name, text, device)

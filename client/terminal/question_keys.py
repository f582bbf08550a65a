"""Which keys answer a question, and what they mean."""

from sayso.protocol.messages import ApprovalRequest


def answers_to(request: ApprovalRequest) -> dict[str, str]:
    """By letter, in the order in which they are offered. `a` is a yes to more than this once; `e`
    is for code."""
    answers = {"y": "yes"}
    if request.wider:
        answers["a"] = "yes, and the like"
    elif request.kind == "access" and not request.question:
        answers["a"] = "yes, for good"
    answers["n"] = "no"
    if request.kind == "run":
        answers["e"] = "edit"
    return answers

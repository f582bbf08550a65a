"""Says in an answer what waits for a yes, for clients that know no questions of their own. Pure."""

from sayso.protocol.messages import ApprovalRequest

HERE = "May I run this? Say yes or no."
ELSEWHERE = "I need your yes to this on a screen of yours."


def question_text(request: ApprovalRequest, *, here: bool) -> str:
    """The whole question, with all that a screen shows of it."""
    fence = "`" * max(3, _longest_run(request.code) + 1)
    lines = [f"{fence}{request.language}", request.code, fence]
    lines.append(f"This would run in {request.where}." if request.where else "")
    if request.why:
        lines.append(request.why)
    if request.may_touch:
        lines.append(f"It could touch {', '.join(request.may_touch)}.")
    lines += [f"Careful: {warning}" for warning in request.warnings]
    lines.append(HERE if here else ELSEWHERE)
    return "\n".join(line for line in lines if line)


def _longest_run(code: str) -> int:
    """Of back ticks, so that code can't end its own fence."""
    longest = run = 0
    for character in code:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest

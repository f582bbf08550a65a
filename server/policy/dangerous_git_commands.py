"""Commands of git that a person should see before they run. Pure."""

from sayso.server.policy.actions import Command


def throws_away(command: Command) -> bool:
    """Whether it throws away work that may be nowhere else."""
    if command.name != "git":
        return False
    words = set(command.words)
    return bool(
        ("push" in words and command.options & {"-f", "--force", "--mirror", "--delete"})
        or ("push" in words and any(word.startswith("+") for word in command.operands))
        or ("reset" in words and "--hard" in words)
        or ("clean" in words and command.options & {"-f", "--force"})
        or ("checkout" in words and "." in words)
        or ("restore" in words and "." in words)
        or ({"branch", "tag"} & words and command.options & {"-D"})
        or ("stash" in words and {"drop", "clear"} & words)
    )


def hides_work(command: Command) -> bool:
    """Whether it changes what is staged, stashed or committed already, or passes over hooks."""
    if command.name != "git":
        return False
    words = set(command.words)
    return bool(
        ("commit" in words and command.options & {"--amend", "-n", "--no-verify"})
        or ({"push", "merge"} & words and "--no-verify" in words)
        or ("stash" in words and not {"list", "show", "drop", "clear"} & words)
        or ("reset" in words and "--hard" not in words)
    )

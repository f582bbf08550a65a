"""Programs that start other programs: where the other one begins in their words."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to read its words."""

    valued: str = ""
    """Letters of short options that are followed by a word of their own."""
    skipped: int = 0
    """Words of its own before the other program's."""
    settings: bool = False
    """Whether `NAME=VALUE` may come before."""
    plain: bool = True
    """It adds nothing that a rule would care for."""


WRAPPERS: Mapping[str, Wrapper] = {
    "builtin": Wrapper(),
    "busybox": Wrapper(),
    "chroot": Wrapper(skipped=1, plain=False),
    "chrt": Wrapper("TPD", skipped=1),
    "command": Wrapper(),
    "coproc": Wrapper(),
    "doas": Wrapper("uC", plain=False),
    "env": Wrapper("uC", settings=True),
    "exec": Wrapper("a"),
    "flock": Wrapper("wE", skipped=1),
    "ionice": Wrapper("cnpPu"),
    "nice": Wrapper("n"),
    "nohup": Wrapper(),
    "nsenter": Wrapper("tSG", plain=False),
    "pkexec": Wrapper(plain=False),
    "setsid": Wrapper(),
    "stdbuf": Wrapper("ioe"),
    "strace": Wrapper("eopsuEPO"),
    "sudo": Wrapper("ugpChrtUDRT", settings=True, plain=False),
    "systemd-run": Wrapper("pEtuMH", plain=False),
    "taskset": Wrapper(skipped=1),
    "time": Wrapper("fo"),
    "timeout": Wrapper("ks", skipped=1),
    "unshare": Wrapper("SGR", plain=False),
    "watch": Wrapper("n"),
    "xargs": Wrapper("IEadLnPs", plain=False),
}

TELLING = frozenset(
    (
        "BASH_ENV", "ENV", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "IFS", "PAGER",
        "PATH", "PERL5OPT", "PROMPT_COMMAND", "PS4", "PYTHONPATH", "PYTHONSTARTUP", "SHELLOPTS",
        "EDITOR", "NODE_OPTIONS", "RUBYOPT",
    )
)  # fmt: skip
"""Variables that make a program do something else than its words say; those of the dynamic linker
(LD_…, DYLD_…) too."""


def changes_meaning(variable: str) -> bool:
    """Whether setting it makes words mean something else."""
    return variable in TELLING or variable.startswith(("LD_", "DYLD_", "GIT_CONFIG"))


def inner(words: tuple[str, ...], wrapper: Wrapper) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The other program's words, and the names of the variables that are set for it."""
    at, set_ = 1, []
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            own_word = not word.startswith("--") and word[-1] in wrapper.valued
            at += 2 if own_word else 1
        elif wrapper.settings and word.partition("=")[0].isidentifier() and "=" in word:
            set_.append(word.partition("=")[0])
            at += 1
        else:
            break
    return words[at + wrapper.skipped :], tuple(set_)

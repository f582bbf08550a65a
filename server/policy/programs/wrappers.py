"""Programs that start other programs: where the other one begins in their words."""

import re
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
    known: bool = True
    """Whether these are all its options."""


WRAPPERS: Mapping[str, Wrapper] = {
    "builtin": Wrapper(),
    "busybox": Wrapper(),
    "chroot": Wrapper(skipped=1, plain=False),
    "chrt": Wrapper("TPD", skipped=1),
    "command": Wrapper(),
    "coproc": Wrapper(),
    "doas": Wrapper("uC", plain=False),
    "env": Wrapper("uCS", settings=True),
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
    # What options these take is not known here in full: none of them is plain.
    **dict.fromkeys(
        (
            "aa-exec",
            "bwrap",
            "caffeinate",
            "capsh",
            "catchsegv",
            "cgexec",
            "choom",
            "chpst",
            "dbus-run-session",
            "dumb-init",
            "eatmydata",
            "entr",
            "envdir",
            "faketime",
            "fakeroot",
            "firejail",
            "gdbserver",
            "gosu",
            "i386",
            "linux32",
            "linux64",
            "ltrace",
            "numactl",
            "parallel",
            "perf",
            "prlimit",
            "proot",
            "proxychains",
            "proxychains4",
            "rlwrap",
            "runcon",
            "runuser",
            "s6-setuidgid",
            "setarch",
            "setpriv",
            "setuidgid",
            "softlimit",
            "ssh-agent",
            "sshpass",
            "su-exec",
            "systemd-inhibit",
            "tini",
            "torsocks",
            "toybox",
            "uclampset",
            "unbuffer",
            "valgrind",
            "x86_64",
            "xvfb-run",
        ),
        Wrapper(plain=False, known=False),
    ),
}

TELLING = re.compile(
    r"BASH_.*|CDPATH|CLASSPATH|DYLD_.*|ENV|FPATH|FCEDIT|GIT_.*|GLOBIGNORE|HIST.*|HOME|IFS|INPUTRC"
    r"|JAVA_.*|LD_.*|LESS.*|LIBPATH|MAKE.*|MAN.*|MORE|NODE_.*|PERL.*|PROMPT_COMMAND|PS[0-4]|PYTHON.*"
    r"|RUBY.*|SSH_.*|SUDO_.*|TAR_.*|TERMINFO.*|UNZIP.*|VISUAL|XDG_.*|ZIP.*|BROWSER|DOCKER_.*|npm_.*"
    r"|(?:.*_)?(?:ASKPASS|CONFIG|COMMAND|EDITOR|FLAGS|OPTIONS|OPTS?|PAGER|PATH|PRELOAD|RC|RSH|SHELL|ZDOTDIR)"
)
"""Variables that make a program do something else than its words say, by their names: those of the
linker and of interpreters, those that name a program, its options or where it looks for them."""


def changes_meaning(variable: str) -> bool:
    """Whether setting it makes words mean something else."""
    return TELLING.fullmatch(variable) is not None


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

"""What programs run or write because their words tell them to: `tar --to-command`, `less +!x`.

Each program that is known to do so has its place here. What a program is told in its own language
(`awk`, `sed`) is read in `scripts_within`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sayso.server.policy.actions import UNKNOWN
from sayso.server.policy.findings import Finder, Words
from sayso.server.policy.programs import git

_SSH: Final = ("-o", "-F", "-S", "-b", "-D")
_VIM: Final = ("-c", "--cmd", "-S", "-s", "-u", "--startuptime")

RUN_BY_OPTION: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("tar", "gtar", "bsdtar"),
        ("--checkpoint-action", "--to-command", "-I", "--use-compress-program", "-F",
         "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"),
    ),
    **dict.fromkeys(("ssh", "scp", "sftp", "autossh", "mosh"), _SSH),
    **dict.fromkeys(("vim", "vi", "view", "nvim", "ex", "gvim", "vimdiff", "rvim"), _VIM),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "zip": ("-TT", "--unzip-command"),
    "man": ("-P", "--pager", "-H", "--html", "-C", "--config-file"),
    "split": ("--filter",),
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "tcpdump": ("-z",),
    "nmap": ("--script", "--interactive"),
    "gdb": ("-ex", "-eval-command", "--eval-command", "-x", "--command", "-iex", "-ix",
            "--init-command"),
    "lldb": ("-o", "--one-line", "-s", "--source", "-O", "-S", "-k", "-K"),
    "flock": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "sg": ("-c",),
    "wget": ("--use-askpass", "-e", "--execute", "--config"),
    "curl": ("-K", "--config"),
    "xterm": ("-e",), "konsole": ("-e",), "gnome-terminal": ("-e", "--command"),
    "start-stop-daemon": ("-x", "--exec", "-a", "--startas"),
    "emacs": ("--eval", "-l", "--load", "-f", "--funcall", "--script"),
    "sqlite3": ("-cmd", "-init"),
    "psql": ("-c", "--command", "-f", "--file", "-o"),
    "aria2c": ("--on-download-complete", "--on-download-start", "--on-download-error"),
    "mapfile": ("-C",), "readarray": ("-C",), "complete": ("-C", "-F"), "bind": ("-x",),
    "enable": ("-f",), "hash": ("-p",),
}  # fmt: skip
"""Options whose value is run, or names a file that is run."""

_WRITTEN: Final[Mapping[str, tuple[str, ...]]] = {
    "sort": ("-o", "--output"), "curl": ("-o", "--output", "--output-dir", "-D", "-c"),
    "wget": ("-O", "--output-document", "-o", "-a", "-P"),
    "tar": ("--index-file", "-C", "--directory"), "unzip": ("-d",), "gpg": ("-o", "--output"),
    "strace": ("-o",), "time": ("-o",), "openssl": ("-out",), "less": ("-o", "-O", "--log-file"),
    "find": ("-fprint", "-fprint0", "-fls", "-fprintf"), "script": ("-O", "-I", "-B"),
}  # fmt: skip

_TALKS: Final = frozenset(("ed", "red", "ex", "vi", "vim", "view", "nvim", "emacs", "nano", "dc"))
"""They do what they are handed, and that may start programs."""

_SAVES: Final = frozenset(("curl", "wget", "tar", "unzip", "gpg", "openssl", "script"))
"""Of these everybody knows that they write what they are told to."""

_COUNTS: Final = frozenset(
    ("let", "test", "[", "printf", "read", "unset", "wait", "declare", "local")
)
"""The index of a list is worked out by them, whatever it is quoted with."""

_RUN_FILES: Final = frozenset(
    ("m4", "gnuplot", "octave", "R", "Rscript", "julia", "tclsh", "wish", "expect", "osascript",
     "guile", "run-parts", "tmux", "screen", "deno", "bun", "ghci", "scala", "groovy",
     "jshell", "irb", "pry", "iex", "erl", "sbcl", "racket", "swipl", "gnuplot5", "ipython")
)  # fmt: skip


_SHORTEST: Final = len("--to")
"""Long options may be cut to what is still not another one."""


def look(words: Words, finder: Finder) -> None:
    """Find what a program does besides what its name says."""
    name = words[0]
    for value in values(words, RUN_BY_OPTION.get(name, ())):
        _handed(name, value, finder)
    for value in values(words, _WRITTEN.get(name, ())):
        finder.touch(value, "write")
        if name not in _SAVES:
            finder.doubt(f"lets {name} write a file")
    if name in _TALKS or name in _RUN_FILES:
        finder.doubt(f"starts {name}, which can start anything")
    if name in _COUNTS and (hidden := [each for each in words[1:] if "$(" in each or "`" in each]):
        finder.doubt(f"lets {name} work out what is between quotes")
        for each in hidden:
            finder.code(f"echo {each}")
    if special := _SPECIAL.get(name):
        special(words, finder)


def values(words: Words, options: tuple[str, ...]) -> Iterator[str]:
    """What is said with these options: `-o x`, `-ox`, `-vox`, `--option=x`, `--opt x`."""
    if not options:
        return
    long = tuple(option for option in options if option.startswith("--"))
    short = {option[1] for option in options if len(option) == len("-x")}
    whole = frozenset(option for option in options if option[1:] not in short)
    for at, word in enumerate(words[1:], 1):
        following = words[at + 1] if at + 1 < len(words) else UNKNOWN
        name, equals, value = word.partition("=")
        if name in whole or (len(name) > _SHORTEST and any(each.startswith(name) for each in long)):
            yield value if equals else following
        elif word.startswith("-") and not word.startswith("--"):
            found = next((i for i, letter in enumerate(word[1:], 1) if letter in short), 0)
            if found:
                yield word[found + 1 :] or following


def _handed(name: str, value: str, finder: Finder) -> None:
    finder.doubt(f"lets {name} start what its options say")
    if name in ("vim", "vi", "view", "nvim", "ex", "gvim", "vimdiff", "rvim", "psql", "sqlite3"):
        _bang(value, finder)
        return
    if name in ("ssh", "scp", "sftp", "autossh", "mosh"):
        value = value.partition("=")[2] or value.partition(" ")[2]
    finder.code(value.removeprefix("exec="))


def _bang(text: str, finder: Finder) -> None:
    """`:!rm x` of an editor, `\\! rm x` of a database's shell, `.shell rm x`."""
    for sign in ("!", ".shell ", ".system "):
        if sign in text:
            finder.code(text.partition(sign)[2].strip())


def _tar(words: Words, finder: Finder) -> None:
    """`tar xIf gzip x`: letters without a dash, and what belongs to them in their order."""
    if len(words) > 1 and not words[1].startswith("-") and set("IF") & set(words[1]):
        finder.doubt("lets tar start what its options say")
        for word in words[2 : 2 + len(words[1])]:
            finder.code(word)


def _zip(words: Words, finder: Finder) -> None:
    for word in words[1:]:
        if word.startswith("-") and not word.startswith("--") and "TT" in word[:-2]:
            finder.doubt("lets zip start what its options say")
            finder.code(word.partition("TT")[2])


def _make(words: Words, finder: Finder) -> None:
    for value in values(words, ("-f", "--file", "--makefile", "-I", "--include-dir")):
        finder.doubt(f"lets make run {'what it is handed' if value == '-' else 'a file'}")
    for value in values(words, ("--eval", "-E")):
        finder.doubt("lets make run what its options say")
        finder.code(value.partition(":")[2].strip().lstrip("@-+") or value)
    for word in words[1:]:
        if "=" in word and not word.startswith("-"):
            finder.doubt(f"gives make another {word.partition('=')[0]}")
            finder.code(word.partition("=")[2])


def _alias(words: Words, finder: Finder) -> None:
    for word in words[1:]:
        if "=" in word:
            finder.doubt("gives a command another meaning")
            finder.code(word.partition("=")[2])


def _find(words: Words, finder: Finder) -> None:
    if any(word.startswith("-files0-from") for word in words):
        finder.doubt("looks where a list says")


def _fd(words: Words, finder: Finder) -> None:
    for at, word in enumerate(words):
        if word in ("-x", "-X", "--exec", "--exec-batch") and words[at + 1 :]:
            rest = tuple(UNKNOWN if "{" in each else each for each in words[at + 1 :])
            finder.start(rest)
            return


def _ip(words: Words, finder: Finder) -> None:
    if "exec" in words:
        finder.start(words[words.index("exec") + 2 :])


def _less(words: Words, finder: Finder) -> None:
    for word in words[1:]:
        if word.startswith("+") or "--lesskey" in word:
            finder.doubt(f"tells {words[0]} what to do")
            _bang(word, finder)


def _editor(words: Words, finder: Finder) -> None:
    for word in words[1:]:
        if word.startswith("+"):
            _bang(word, finder)


def _database(words: Words, finder: Finder) -> None:
    for word in words[1:]:
        if any(
            sign in word for sign in ("\\!", ".shell", ".system", ".load", "system ", "load_ext")
        ):
            finder.doubt(f"lets {words[0]} start programs")
            _bang(word, finder)


def _gdb(words: Words, finder: Finder) -> None:
    for value in values(words, ("-ex", "-iex")):
        for sign in ("!", "shell ", "system("):
            if sign in value:
                finder.code(value.partition(sign)[2])


_SPECIAL: Final[Mapping[str, Callable[[Words, Finder], None]]] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "git": git.look, "zip": _zip, "make": _make, "gmake": _make, "alias": _alias, "find": _find,
    "gdb": _gdb,
    "fd": _fd, "fdfind": _fd, "ip": _ip, "less": _less, "more": _less, "most": _less,
    **dict.fromkeys(("vim", "vi", "view", "nvim", "ex"), _editor),
    **dict.fromkeys(("sqlite3", "psql", "mysql", "mariadb", "duckdb"), _database),
}  # fmt: skip

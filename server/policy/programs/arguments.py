"""Tells what programs do with their arguments, and which other programs they start."""

import re
import shlex
from collections.abc import Callable, Sequence, Set
from itertools import takewhile

from sayso.server.policy.actions import (
    UNKNOWN,
    Actions,
    Command,
    How,
    Touched,
    Trait,
    hosts_in,
    is_path,
    normal,
    unique,
)
from sayso.server.policy.programs import awk_and_sed, options
from sayso.server.policy.programs.wrappers import WRAPPERS, Wrapper, changes_meaning, inner

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "lua", "pwsh"}
_CODE_OPTIONS = {"perl": "eE", "node": "ep", "php": "rBRE"}
"""Letters after which code follows; elsewhere `c` of shells and Python, and `e`."""
_TELLS_ONLY = frozenset(("-V", "-v", "--version", "-h", "--help"))
_INPUT = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))

_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/",
           "/opt/homebrew/bin/")  # fmt: skip
"""Where the programs lie that are called by their names alone."""

_STARTED = SHELLS | {
    "rm", "dd", "shred", "python", "python3", "perl", "ruby", "node", "php", "sudo", "mkfs", "eval",
    "curl", "wget", "nc", "ncat", "socat", "chmod", "chown", "env", "xargs", "find",
}  # fmt: skip
_ONLY_NAMES = frozenset(
    (
        "[", "alias", "apropos", "apt", "apt-cache", "apt-get", "awk", "basename", "brew",
        "cat", "cd", "chmod", "chown", "cmp", "command", "conda", "cp", "diff", "dirname",
        "dnf", "docker", "dpkg", "du", "echo", "egrep", "export", "false", "fgrep", "file",
        "flatpak", "git", "grep", "hash", "head", "help", "id", "info", "install", "kill",
        "killall", "ln", "local", "ls", "make", "mamba", "man", "mkdir", "mv", "pacman",
        "pgrep", "pidof", "pip", "pip3", "pkill", "podman", "printf", "ps", "pushd", "pwd",
        "python", "python3", "read", "readlink", "realpath", "rg", "rm", "rmdir", "rpm",
        "sed", "service", "set", "snap", "sort", "stat", "systemctl", "tail", "tar", "tee",
        "test", "touch", "tr", "true", "type", "uniq", "unset", "unzip", "uv", "wc",
        "whatis", "whereis", "which", "yum", "zip", "zypper",
    )
)  # fmt: skip
"""For these the name of a program among their words is a word like any other."""
DOWNLOADERS = frozenset(("curl", "wget", "fetch", "aria2c", "http", "lynx", "nc", "ncat", "socat"))
DECODERS = frozenset(("base64", "base32", "xxd", "openssl", "uudecode"))

_DELETERS = frozenset(("rm", "rmdir", "unlink", "shred", "srm", "trash"))
_WRITERS = frozenset(
    ("chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "tee", "touch", "truncate", "rsync")
)
_REMOTE = frozenset(("ssh", "scp", "sftp", "rsync"))

_PLAIN_COPY = re.compile(r"-[aRrvfnip]+|--|--archive|--recursive|--verbose|--no-clobber")
"""Options of `cp` that change nothing of what it copies."""

Reader = Callable[[str], Actions]

DEPTH = 8
"""Programs that start programs that start programs: more is a game of hide and seek."""


class Programs:
    """Gathers what is found in one piece of shell code."""

    def __init__(self, python: Reader | None, shell: Reader) -> None:
        self._python = python
        self._shell = shell
        """Reads shell code within."""
        self.commands: list[Command] = []
        self.paths: list[Touched] = []
        self.hosts: list[str] = []
        self.traits: set[Trait] = set()
        self.unclear: list[str] = []
        self.documents: list[str] = []
        """Here-documents and here-strings: what some program is handed."""
        self._inside = Actions()
        self._takes_input: set[str] = set()
        self._depth = 0
        self._runs_files = False

    def all(self) -> Actions:
        """Everything, and what shows only when all has been seen."""
        if self._takes_input & SHELLS:
            self._inside += unique(map(self._shell, self.documents))
        if self._python and any(name.startswith("python") for name in self._takes_input):
            self._inside += unique(map(self._python, self.documents))
        if self._runs_files and any(each.name in DOWNLOADERS for each in self.commands):
            self.traits.add("runs a download")
        found = Actions(
            tuple(self.commands),
            tuple(self.paths),
            tuple(self.hosts),
            frozenset(self.traits),
            tuple(self.unclear),
        )
        return found + self._inside

    def take(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        """A command with the words that it would get. `within` its words others are started."""
        if UNKNOWN in words[0]:
            self.unclear.append("runs a command whose name is worked out as it goes")
        name = words[0].rpartition("/")[2] or words[0]
        if "/" in words[0] and not words[0].startswith(_SYSTEM):
            self._runs_files = True
            self.unclear.append(f"runs {words[0][:80]}, which is not looked into")
        words = (name, *words[1:])
        wrapper = WRAPPERS.get(name)
        self.commands.append(Command(words, wraps=wrapper is not None and wrapper.plain))
        self._places(words)
        finder = _Finder(self, before, within)
        options.look(words, finder)
        awk_and_sed.look(words, finder)
        if wrapper:
            self._wrapped(words, wrapper, before, within)
        else:
            self._through(words, before, within)

    def _wrapped(
        self, words: tuple[str, ...], wrapper: Wrapper, before: Sequence[str], within: Sequence[str]
    ) -> None:
        started, set_ = inner(words, wrapper)
        if words[0] == "env":
            for text in options.values(words, ("-S", "--split-string")):
                self.unclear.append("takes a text apart and starts it")
                self._start((*_split(text), *started), before, within)
        for variable in filter(changes_meaning, set_):
            self.unclear.append(f"sets {variable}, which can make any command mean another")
        if words[0] == "watch" and started:
            self._code(" ".join(started), within)
        elif started:
            self._start(started, before, within)
        own = words[1 : len(words) - len(started)]
        if not wrapper.known or any(w.startswith("--") and "=" not in w and w != "--" for w in own):
            # One of the options may have taken the name for its own word.
            self.unclear.append(f"starts something through {words[0]}")
            self._perhaps(words, before, within)
        if words[0] == "xargs":
            self.unclear.append("hands on words that are worked out as it goes")

    def _perhaps(
        self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]
    ) -> None:
        """A program that is not known may start one that is among its words."""
        for at, word in enumerate(words[1:], 1):
            if word.rpartition("/")[2] in _STARTED:
                self._start(words[at:], before, within)
                return

    def _start(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        """What a program starts."""
        if not words:
            return
        if self._depth == DEPTH:
            self.unclear.append("hides programs in programs")
            return
        self._depth += 1
        self.take(words, before, within)
        self._depth -= 1

    def _through(
        self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]
    ) -> None:
        """Programs that run what their words or their input say."""
        name = words[0]
        if name == "find":
            self._find(words, before, within)
        elif name in INTERPRETERS:
            self._interpret(words, before, within)
        elif name in ("eval", "trap", "source", "."):
            self._evaluate(words, within)
        elif name in ("su", "script", "at", "batch", "expect"):
            self.unclear.append(f"starts something through {name}")
            for text in options.values(words, ("-c", "--command")):
                self._code(text, within)
        elif name not in _ONLY_NAMES:
            self._perhaps(words, before, within)

    def _find(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        rest = iter(words)
        for word in rest:
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                started = tuple(takewhile(lambda each: each not in (";", "+"), rest))
                if started:
                    started = tuple(UNKNOWN if each == "{}" else each for each in started)
                    self._start(started, before, within)
            elif word == "-delete":
                places = tuple(takewhile(lambda each: each[:1] not in ("-", "(", "!"), words[1:]))
                self.commands.append(Command(("rm", "-r", *(places or (".",)))))
                self.traits.add("deletes without looking")

    def _interpret(
        self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]
    ) -> None:
        name = words[0]
        flags = "c" if name in SHELLS or name.startswith("python") else _CODE_OPTIONS.get(name, "e")
        for at, word in enumerate(words[1:], 1):
            if word == "-m" and name.startswith("python") and len(words) > at + 1:
                self._start(words[at + 1 :], before, within)
                return
            if word.startswith("-") and not word.startswith("--") and set(flags) & set(word[1:]):
                code = words[at + 1] if len(words) > at + 1 else UNKNOWN
                if name in SHELLS:
                    self._code(code, within)
                elif name.startswith("python") and self._python and UNKNOWN not in code:
                    self._inside += self._python(code)
                else:
                    self._judge_within(within)
                    self.unclear.append(f"runs {name} code that is not looked into")
                return
            if word in _INPUT or not word.startswith("-"):
                break
        else:
            if name not in SHELLS and set(words[1:]) - _TELLS_ONLY:
                self.unclear.append(f"runs {name} with options that are not looked into")
            self._from_input(name, before)
            return
        if word in _INPUT:
            self._from_input(name, before)
            return
        self._judge_within(within)
        self._runs_files = True
        self.unclear.append(f"runs a {name} file that is not looked into")

    def _from_input(self, name: str, before: Sequence[str]) -> None:
        if set(before) & DOWNLOADERS:
            self.traits.add("runs a download")
        if set(before) & DECODERS:
            self.traits.add("runs decoded text")
        if before:
            self._takes_input.add(name)
            self.unclear.append(f"lets {name} run what it is handed")

    def _evaluate(self, words: tuple[str, ...], within: Sequence[str]) -> None:
        name, *rest = words
        if name in ("source", ".") and rest and rest[0] in _INPUT:
            self._takes_input.add("sh")
        if name in ("source", "."):
            self._judge_within(within)
            self._runs_files = True
            self.unclear.append("runs a file that is not looked into")
        elif rest:
            self._code(rest[0] if name == "trap" else " ".join(rest), within)

    def _code(self, code: str, within: Sequence[str]) -> None:
        self._judge_within(within)
        if UNKNOWN in code:
            self.unclear.append("runs code that is put together as it goes")
        self._inside += self._shell(code.replace(UNKNOWN, "$_"))

    def _judge_within(self, within: Sequence[str]) -> None:
        """What is run was made by these."""
        if set(within) & DOWNLOADERS:
            self.traits.add("runs a download")
        if set(within) & DECODERS:
            self.traits.add("runs decoded text")

    def _places(self, words: tuple[str, ...]) -> None:
        name = words[0]
        how: How = "read"
        if name in _DELETERS:
            how = "delete"
        elif name in _WRITERS or (name == "sed" and any(w.startswith("-i") for w in words)):
            how = "write"
        copied = _copied(words)
        for word in words[1:]:
            self.hosts += hosts_in(word)
            self._place(name, word, "read" if word in copied else how)
            if not word.startswith("-"):
                self._host(name, word)

    def _place(self, name: str, word: str, how: How) -> None:
        value = word.partition("=")[2] if "=" in word else word
        if name == "dd" and word.startswith("of="):
            self.touch(value, "write")
        elif is_path(value) or ("/" in value and "://" not in value):
            self.touch(value, how)
        elif how != "read" and not word.startswith("-"):
            self.touch(word, how)

    def _host(self, name: str, word: str) -> None:
        if name == "ssh" or (name in _REMOTE and ":" in word):
            self.hosts.append(word.partition(":")[0].rpartition("@")[2].lower())
        elif name in ("curl", "wget") and "." in word and "://" not in word and not is_path(word):
            self.hosts.append(word.partition("/")[0].partition(":")[0].lower())

    def code(self, code: str, within: Sequence[str]) -> None:
        """Shell code that a program is told to run."""
        self._code(code, within)

    def start(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        """A program that another one is told to start."""
        self._start(words, before, within)

    def touch(self, path: str, how: How) -> None:
        self.paths.append(Touched(normal(path), how))


class _Finder:
    """Takes what is found in the words of one command."""

    def __init__(self, programs: Programs, before: Sequence[str], within: Sequence[str]) -> None:
        self._programs = programs
        self._before = before
        self._within = within

    def code(self, code: str) -> None:
        self._programs.code(code, self._within)

    def start(self, words: tuple[str, ...]) -> None:
        self._programs.start(words, self._before, self._within)

    def touch(self, path: str, how: How) -> None:
        self._programs.touch(path, how)

    def doubt(self, sentence: str) -> None:
        self._programs.unclear.append(sentence)


def _split(text: str) -> tuple[str, ...]:
    """A text as the words that it holds."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def _copied(words: tuple[str, ...]) -> Set[str]:
    """What `cp` reads and leaves as it is: all places but the last. What it is told by options
    other than the usual ones may be more than a copy, such as a link."""
    operands = [word for word in words[1:] if not word.startswith("-")]
    options = [word for word in words[1:] if word.startswith("-")]
    if words[0] != "cp" or not all(_PLAIN_COPY.fullmatch(option) for option in options):
        return frozenset()
    return frozenset(operands[:-1]) - {operands[-1]} if operands else frozenset()

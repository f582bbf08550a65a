"""What programs do with the words that they are started with, and which others they start."""

from collections.abc import Callable, Sequence
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
from sayso.server.policy.wrappers import WRAPPERS, Wrapper, changes_meaning, inner

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "lua", "pwsh"}
DOWNLOADERS = frozenset(("curl", "wget", "fetch", "aria2c", "http", "lynx", "nc", "ncat", "socat"))
DECODERS = frozenset(("base64", "base32", "xxd", "openssl", "uudecode"))

_DELETERS = frozenset(("rm", "rmdir", "unlink", "shred", "srm", "trash"))
_WRITERS = frozenset(
    ("chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "tee", "touch", "truncate", "rsync")
)
_REMOTE = frozenset(("ssh", "scp", "sftp", "rsync"))

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
        if "/" in words[0] and words[0].startswith((".", "/tmp", "/var/tmp", "~")):  # noqa: S108
            self._runs_files = True
        words = (name, *words[1:])
        wrapper = WRAPPERS.get(name)
        self.commands.append(Command(words, wraps=wrapper is not None and wrapper.plain))
        self._places(words)
        if wrapper:
            self._wrapped(words, wrapper, before, within)
        else:
            self._through(words, before, within)

    def _wrapped(
        self, words: tuple[str, ...], wrapper: Wrapper, before: Sequence[str], within: Sequence[str]
    ) -> None:
        started, set_ = inner(words, wrapper)
        for variable in filter(changes_meaning, set_):
            self.unclear.append(f"sets {variable}, which can make any command mean another")
        if started:
            self._start(started, before, within)

    def _start(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        """What a program starts."""
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
        elif name in ("su", "script", "at", "batch", "parallel", "expect"):
            self.unclear.append(f"starts something through {name}")
            if "-c" in words[:-1]:
                self._code(words[words.index("-c") + 1], within)

    def _find(self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]) -> None:
        rest = iter(words)
        for word in rest:
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                started = tuple(takewhile(lambda each: each not in (";", "+"), rest))
                if started:
                    started = tuple(UNKNOWN if each == "{}" else each for each in started)
                    self._start(started, before, within)
            elif word == "-delete":
                self.commands.append(Command(("rm", "-r", *(words[1:2] or (".",)))))
                self.traits.add("deletes without looking")

    def _interpret(
        self, words: tuple[str, ...], before: Sequence[str], within: Sequence[str]
    ) -> None:
        name = words[0]
        flag = "-c" if name in SHELLS or name.startswith("python") else "-e"
        for at, word in enumerate(words[1:], 1):
            if word == "-m" and name.startswith("python") and len(words) > at + 1:
                self._start(words[at + 1 :], before, within)
                return
            if word.startswith("-") and not word.startswith("--") and flag[1] in word[1:]:
                code = words[at + 1] if len(words) > at + 1 else UNKNOWN
                if name in SHELLS:
                    self._code(code, within)
                elif name.startswith("python") and self._python and UNKNOWN not in code:
                    self._inside += self._python(code)
                else:
                    self._judge_within(within)
                    self.unclear.append(f"runs {name} code that is not looked into")
                return
            if word == "-" or not word.startswith("-"):
                break
        else:
            self._from_input(name, before)
            return
        if word == "-":
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
        for word in words[1:]:
            self.hosts += hosts_in(word)
            self._place(name, word, how)
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

    def touch(self, path: str, how: How) -> None:
        self.paths.append(Touched(normal(path), how))

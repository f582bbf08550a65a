"""Python code, read as its syntax tree: programs it starts, files and hosts it names.

Names are followed through imports, plain assignments and constants that are put together of others.
What is only known when the code runs (`eval`, `getattr` with a computed name, C libraries) is
reported as unclear. IPython's own lines (`!ls`, `%pip`, `%%bash`) are read as what they are.
"""

import ast
import re

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
)
from sayso.server.policy.analysis_budget import spent_on
from sayso.server.policy.languages import shell
from sayso.server.policy.languages.python_constants import Constants
from sayso.server.policy.languages.python_files import DELETES, touched
from sayso.server.policy.programs.arguments import SHELLS

LONGEST = 50_000
"""Characters: half a second of reading."""

_BY_SHELL = frozenset(
    (
        "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
        "asyncio.create_subprocess_shell", "commands.getoutput", "get_ipython.system",
        "get_ipython.getoutput",
    )
)  # fmt: skip
_BY_WORDS = frozenset(
    (
        "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
        "subprocess.Popen", "asyncio.create_subprocess_exec", "pty.spawn",
    )
)  # fmt: skip
_STARTS = _BY_SHELL | _BY_WORDS
_BY_LAST = {
    name.rpartition(".")[2]: name
    for name in (*_STARTS - {"subprocess.run", "subprocess.call"}, "shutil.rmtree")
}
"""Functions that are known by their last name, of whatever they are taken."""

_IN_ITS_PLACE = re.compile(r"os\.(exec|spawn|posix_spawn)\w*")

_FETCHES = re.compile(
    r"(requests|httpx|urllib\.request|urllib3|aiohttp|http\.client)\."
    r"(get|post|put|urlopen|urlretrieve|request|head|delete|Client|ClientSession)\b.*"
)
_EVALUATES = frozenset(("eval", "exec", "compile"))
_DECODES = re.compile(
    r"(base64|codecs|zlib|binascii|marshal)\.\w*(decode|decompress|unhex|loads)\w*"
)
_UNCLEAR_MODULES = {
    "ctypes": "calls C libraries", "cffi": "calls C libraries",
    "importlib": "imports what it works out as it goes", "runpy": "runs files",
    "pickle": "may unpack code with pickle", "code": "runs code that it reads",
}  # fmt: skip
_HARMLESS_MAGICS = frozenset(("matplotlib", "who", "whos", "pwd", "precision", "pylab", "history"))
_RUNNING_MAGICS = frozenset(("time", "timeit", "prun", "capture", "python", "python3"))
"""What follows them is run, and what stands below them."""
_MAGIC_OPTIONS = re.compile(r"(?:-\w+(?:\s+\d+)?\s+)*+")
_MAGIC = re.compile(r"^\s*+(?:[\w.\[\], ]++=\s*)?(%%?|!!?)\s*(\S.*)?$")


def read(code: str) -> Actions:
    """What Python code would do."""
    with spent_on(code) as enough:
        if len(code) > LONGEST or not enough:
            return Actions(
                traits=frozenset(("cannot be read",)), unclear=("is too long to be looked through",)
            )
        return _read(code)


def _read(code: str) -> Actions:
    actions = Actions()
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        plain, actions = _without_magics(code)
        try:
            tree = ast.parse(plain)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return actions + Actions(unclear=("is no Python that can be read for certain",))
    reader = _Reader(Constants(tree))
    try:
        reader.visit(tree)
    except RecursionError:
        return Actions(unclear=("is nested too deep to be looked through",))
    return actions + reader.found()


def _without_magics(code: str) -> tuple[str, Actions]:
    """The Python in an IPython cell, and what its other lines do."""
    first, _, rest = code.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].split(" ")[0].strip()
        if name in SHELLS or name == "script":
            return "", shell.read(rest, read)
        if name in _RUNNING_MAGICS:
            return rest, _run_by_magic(first[2:].partition(" ")[2])
        if name in _HARMLESS_MAGICS:
            return rest, Actions()
        return "", Actions(unclear=(f"uses %%{name}, which is not looked into",))
    lines, actions = [], Actions()
    for line in code.split("\n"):
        magic = _MAGIC.match(line)
        if not magic:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(f"{indent}pass")
        actions += _of_magic(magic[1], magic[2] or "")
    return "\n".join(lines), actions


def _of_magic(sign: str, text: str) -> Actions:
    if sign.startswith("!"):
        return shell.read(text, read)
    name, _, rest = text.partition(" ")
    if name in ("pip", "conda", "mamba", "uv", "ls"):
        return shell.read(text, read)
    if name in _RUNNING_MAGICS:
        return _run_by_magic(rest)
    if name in ("sx", "system", "sc"):
        return shell.read(rest, read)
    if name in _HARMLESS_MAGICS:
        return Actions()
    return Actions(unclear=(f"uses %{name}, which is not looked into",))


def _run_by_magic(text: str) -> Actions:
    options = _MAGIC_OPTIONS.match(text)
    code = text[options.end() :] if options else text
    return read(code) if code.strip() else Actions()


class _Reader(ast.NodeVisitor):
    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._commands: list[Command] = []
        self._paths: list[Touched] = []
        self._hosts: list[str] = []
        self._traits: set[Trait] = set()
        self._unclear: list[str] = []
        self._inside = Actions()
        self._called: set[int] = set()
        """Names that are called are looked at with their arguments."""

    def found(self) -> Actions:
        own = Actions(
            tuple(self._commands),
            tuple(self._paths),
            tuple(self._hosts),
            frozenset(self._traits),
            tuple(self._unclear),
        )
        return own + self._inside

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imported(node.module or "")
        if any(alias.name == "*" for alias in node.names) and node.module in ("os", "subprocess"):
            self._unclear.append(f"takes every name of {node.module}")

    def _imported(self, module: str) -> None:
        why = _UNCLEAR_MODULES.get(module.partition(".")[0])
        if why and module not in {"importlib.resources", "importlib.metadata"}:
            self._unclear.append(why)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._hosts += hosts_in(node.value)
            if is_path(node.value) and "\n" not in node.value:
                self._touch(node.value, "read")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text = self._constants.text(node)
        self._hosts += [host for host in hosts_in(text) if UNKNOWN not in host]
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._place(node)
        self.generic_visit(node)

    def _place(self, node: ast.expr) -> None:
        """A place that is put together, as far as it can be told."""
        known = self._constants.text(node).partition(UNKNOWN)[0]
        if is_path(known):
            self._touch(known, "read")

    def visit_Name(self, node: ast.Name) -> None:
        self._as_value(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._as_value(node)
        if node.attr in ("__globals__", "__builtins__", "__subclasses__", "__dict__"):
            self._unclear.append(f"reaches through {node.attr}")
        self.generic_visit(node)

    def _as_value(self, node: ast.Name | ast.Attribute) -> None:
        """Something that starts programs, handed about instead of called: who knows with what."""
        if id(node) in self._called or not isinstance(node.ctx, ast.Load):
            return
        name = self._meant(self._constants.resolve(node))
        known = name in _STARTS | DELETES | _EVALUATES or _IN_ITS_PLACE.fullmatch(name)
        if known and not self._constants.is_alias(node):
            self._unclear.append(f"hands {name} on")
            if name in DELETES:
                self._traits.add("deletes without looking")

    def _meant(self, name: str) -> str:
        """The known function that a name comes to: `os.system` for `A.os.system`, whatever A is."""
        head, _, last = name.rpartition(".")
        if not head or name in _STARTS or name in DELETES:
            return name
        if head in ("builtins", "__builtins__"):
            return last
        of = head.rpartition(".")[2]
        of = "os" if of in ("posix", "nt") else of
        for full in (f"{of}.{last}", f"{self._constants.of_name(of)}.{last}"):
            if full in _STARTS or full in DELETES or _IN_ITS_PLACE.fullmatch(full):
                return full
        if not self._constants.is_module(head):
            own = self._constants.of_name(last)
            if own in _STARTS or own in DELETES:
                return own
            return _BY_LAST.get(last, name)
        return name

    def visit_Call(self, node: ast.Call) -> None:
        name = self._meant(self._constants.resolve(node.func))
        self._called.add(id(node.func))
        if name in _BY_SHELL or (name in _BY_WORDS and self._is_shell(node)):
            self._shell(node)
        elif name in _BY_WORDS or _IN_ITS_PLACE.fullmatch(name):
            self._words(node, name)
        elif name in _EVALUATES:
            self._evaluate(node, name)
        elif name in ("getattr", "__import__", "setattr", "vars", "globals", "locals"):
            self._reach(node, name)
        elif name == "os.fork":
            self._fork(node)
        else:
            self._place(node)
            self._files(node, name)
        self.generic_visit(node)

    def _is_shell(self, node: ast.Call) -> bool:
        for keyword in node.keywords:
            if keyword.arg == "shell":
                value = keyword.value
                return not (isinstance(value, ast.Constant) and not value.value)
            if keyword.arg is None:
                self._unclear.append("hands options on that are worked out as it goes")
        return False

    def _shell(self, node: ast.Call) -> None:
        what = _argument(node, "args", "cmd", "command")
        text = self._constants.text(what) if what is not None else UNKNOWN
        if text == UNKNOWN:
            words = self._constants.words(what) if what is not None else ()
            if not words:
                self._unclear.append("starts a program that is worked out as it goes")
                return
            text = words[0]
        self._inside += shell.read(text.replace(UNKNOWN, "$_"), read)

    def _words(self, node: ast.Call, name: str) -> None:
        words: tuple[str, ...]
        if name == "asyncio.create_subprocess_exec":
            words = tuple(self._constants.text(each) for each in node.args)
        else:
            position = 1 if name.startswith("os.spawn") else 0
            what = _argument(node, "args", position=position)
            words = self._constants.words(what) if what is not None else ()
            if not words and what is not None and (text := self._constants.text(what)):
                words = (text,)
            if _IN_ITS_PLACE.fullmatch(name) and len(node.args) > position + 1:
                rest = [self._constants.text(each) for each in node.args[position + 1 :]]
                listed = self._constants.words(node.args[position + 1])
                words = (*words, *(listed[1:] if listed else rest[1:]))
        if not words or words[0] == UNKNOWN:
            self._unclear.append("starts a program that is worked out as it goes")
            return
        self._inside += shell.of_words(words, read)

    def _evaluate(self, node: ast.Call, name: str) -> None:
        what = node.args[0] if node.args else None
        text = self._constants.text(what) if what is not None else UNKNOWN
        if what is not None and UNKNOWN not in text:
            if name != "compile":
                self._inside += read(text)
            return
        inner = {self._constants.resolve(c.func) for c in _calls(what)}
        made_by = inner | self._constants.made_by(what)
        if any(_FETCHES.fullmatch(each) for each in made_by):
            self._traits.add("runs a download")
        if any(_DECODES.fullmatch(each) for each in made_by):
            self._traits.add("runs decoded text")
        self._unclear.append(f"runs text with {name} that is worked out as it goes")

    def _reach(self, node: ast.Call, name: str) -> None:
        if name in ("vars", "globals", "locals"):
            self._unclear.append(f"reaches for names with {name}()")
            return
        which = node.args[1] if name != "__import__" and len(node.args) > 1 else node.args[:1]
        which = which[0] if isinstance(which, list) and which else which
        text = self._constants.text(which) if isinstance(which, ast.AST) else UNKNOWN
        if UNKNOWN in text:
            self._unclear.append(f"reaches for a name with {name} that is worked out as it goes")
        elif name == "getattr":
            full = f"{self._constants.resolve(node.args[0])}.{text}"
            if full in _BY_SHELL | _BY_WORDS | DELETES or _IN_ITS_PLACE.fullmatch(full):
                self._unclear.append(f"reaches for {full} in a roundabout way")
        else:
            self._imported(text)
            self._unclear.append(f"imports {text} in a roundabout way")

    def _fork(self, node: ast.Call) -> None:
        if self._constants.in_endless_loop(node):
            self._traits.add("fork bomb")

    def _files(self, node: ast.Call, name: str) -> None:
        if name in DELETES:
            recursive = ("-r",) if name in ("shutil.rmtree", "os.removedirs") else ()
            targets = tuple(self._constants.text(each) for each in node.args[:1])
            self._commands.append(Command(("rm", *recursive, *targets)))
        for path, how in touched(node, name, self._constants):
            self._touch(path, how)
            if how == "delete" and self._constants.is_repeated(node):
                self._traits.add("deletes without looking")

    def _touch(self, path: str, how: How) -> None:
        self._paths.append(Touched(normal(path), how))


def _argument(node: ast.Call, *names: str, position: int = 0) -> ast.expr | None:
    if len(node.args) > position:
        return node.args[position]
    return next((each.value for each in node.keywords if each.arg in names), None)


def _calls(node: ast.AST | None) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)] if node else []

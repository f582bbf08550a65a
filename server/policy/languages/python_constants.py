"""Resolves the names in Python code to constants, where that is possible without running it."""

import ast
from collections import defaultdict
from collections.abc import Iterable

from sayso.server.policy.actions import UNKNOWN

_DEPTH = 20
"""Names for names for names: beyond that it is not told."""

_STEPS = 20_000
"""In all: a name that is two of another, which is two of a third, doubles with each."""

_LONGEST = 10_000
"""Characters of a text that is put together."""

_LOOPS = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip

_PATHS = frozenset(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "str", "os.fspath"))
_JOINS = frozenset(("os.path.join", "posixpath.join"))
_HOMES = frozenset(("pathlib.Path.home",))
_EXPANDS = frozenset(("os.path.expanduser", "os.path.abspath", "os.path.realpath"))


class Constants:
    """Names that are given a value once, and imports."""

    def __init__(self, tree: ast.AST) -> None:
        self._modules: dict[str, str] = {}
        self._imports: set[str] = set()
        self._values: dict[str, list[ast.expr | None]] = defaultdict(list)
        self._aliased: dict[int, str] = {}
        """What names are given as another name for something, and those names."""
        self._parents: dict[int, ast.AST] = {}
        self._makers: dict[str, set[str]] = {}
        """What was found of names that were asked for."""
        self._steps = 0
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[id(child)] = node
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._imported(node)
        elif isinstance(node, ast.Assign):
            self._assigned(node)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            if isinstance(node.target, ast.Name):
                self._values[node.target.id].append(node.value)
        else:
            for name in _bound_by(node):
                self._values[name].append(None)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        for each in node.names:
            self._imports.add(
                f"{node.module}.{each.name}" if isinstance(node, ast.ImportFrom) else each.name
            )
            if isinstance(node, ast.ImportFrom):
                self._modules[each.asname or each.name] = f"{node.module}.{each.name}"
            else:
                top = each.name.partition(".")[0]
                self._modules[each.asname or top] = each.name if each.asname else top

    def _assigned(self, node: ast.Assign) -> None:
        for target in node.targets:
            simple = isinstance(target, ast.Name)
            for name in _stored_in(target):
                self._values[name].append(node.value if simple else None)
        if isinstance(node.value, ast.Name | ast.Attribute) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                self._aliased[id(node.value)] = target.id

    def is_alias(self, node: ast.AST) -> bool:
        """Whether it is only given another name here, under which it is followed."""
        name = self._aliased.get(id(node))
        assignment = self._parents.get(id(node))
        if name is None or len(self._values[name]) > 1 or assignment is None:
            return False
        return not isinstance(self._parents.get(id(assignment)), ast.ClassDef)

    def is_module(self, name: str) -> bool:
        """Whether it is something that was imported."""
        return name in self._imports

    def of_name(self, name: str) -> str:
        """What a name stands for wherever it was given: in a class, in a function."""
        return self.resolve(ast.Name(name, ast.Load()))

    def is_repeated(self, node: ast.AST) -> bool:
        """Whether it stands in a loop, or in a list that is made by one."""
        above: ast.AST | None = node
        while (above := self._parents.get(id(above))) is not None:
            if isinstance(above, _LOOPS):
                return True
        return False

    def in_endless_loop(self, node: ast.AST) -> bool:
        """Whether it stands in a `while` whose condition is constant."""
        above: ast.AST | None = node
        while (above := self._parents.get(id(above))) is not None:
            if isinstance(above, ast.While) and isinstance(above.test, ast.Constant):
                return True
        return False

    def resolve(self, node: ast.AST, depth: int = 0) -> str:
        """The full name of what is called: `subprocess.run` for `sp.run`; UNKNOWN if none."""
        if depth > _DEPTH:
            return UNKNOWN
        match node:
            case ast.Name(id=name):
                return self._named(name, depth + 1)
            case ast.Attribute(value=value, attr=attr):
                return f"{self.resolve(value, depth + 1)}.{attr}"
            case ast.Call():
                return self._returned(node, depth + 1)
            case _:
                return UNKNOWN

    def _named(self, name: str, depth: int) -> str:
        if (value := self._once(name)) is not None:
            if isinstance(value, ast.Name | ast.Attribute):
                return self.resolve(value, depth)
            return UNKNOWN
        if self._values.get(name):
            return UNKNOWN
        return self._modules.get(name, name)

    def _returned(self, node: ast.Call, depth: int) -> str:
        """The full name of what a call gives back, as far as its own name tells."""
        match node:
            case ast.Call(func=ast.Name(id="get_ipython")):
                return "get_ipython"
            case ast.Call(
                func=ast.Name(id="getattr"), args=[of, ast.Constant(value=str(attribute)), *_]
            ):
                return f"{self.resolve(of, depth)}.{attribute}"
        name = self.resolve(node.func, depth)
        if name != "__import__":
            return name
        return self.text(node.args[0]) if node.args else UNKNOWN

    def made_by(self, node: ast.AST | None) -> set[str]:
        """The calls whose results the names in an expression hold."""
        found: set[str] = set()
        for each in ast.walk(node) if node else ():
            if isinstance(each, ast.Name) and (value := self._once(each.id)) is not None:
                if each.id not in self._makers:
                    calls = (c for c in ast.walk(value) if isinstance(c, ast.Call))
                    self._makers[each.id] = {self.resolve(call.func) for call in calls}
                found |= self._makers[each.id]
        return found

    def words(self, node: ast.AST) -> tuple[str, ...]:
        """The texts of a list; nothing if it is none."""
        self._steps += 1
        if self._steps > _STEPS:
            return (UNKNOWN,)
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                found: list[str] = []
                for each in elements:
                    found += self.words(each.value) if isinstance(each, ast.Starred) else ()
                    if isinstance(each, ast.Starred):
                        found.append(UNKNOWN)
                    else:
                        found.append(self.text(each))
                return tuple(found)
            case ast.Name(id=name) if (value := self._once(name)) is not None:
                return self.words(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                if first := self.words(left):
                    return (*first, *(self.words(right) or (UNKNOWN,)))
                return ()
            case ast.Call(func=ast.Attribute(value=value, attr="split"), args=[]):
                return tuple(self.text(value).split())
            case ast.Call(func=func, args=[argument, *_]) if self.resolve(func) == "shlex.split":
                return tuple(self.text(argument).split())
            case _:
                return ()

    def text(self, node: ast.AST | None, depth: int = 0) -> str:
        """What an expression comes to; what is only known later as UNKNOWN in its place."""
        self._steps += 1
        if depth > _DEPTH or self._steps > _STEPS:
            return UNKNOWN
        again = depth + 1
        match node:
            case None:
                return ""
            case ast.Constant(value=value):
                return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
            case ast.JoinedStr(values=values):
                return _together(self.text(each, again) for each in values)
            case ast.FormattedValue(value=value, format_spec=None, conversion=-1):
                return self.text(value, again)
            case ast.Name(id=name) if (value := self._once(name)) is not None:
                return self.text(value, again)
            case ast.BinOp():
                return self._computed(node, again)
            case ast.Call(func=func, args=arguments):
                return self._made(func, arguments, again)
            case _:
                return UNKNOWN

    def _computed(self, node: ast.BinOp, depth: int) -> str:
        left = self.text(node.left, depth)
        match node.op:
            case ast.Add():
                return _together((left, self.text(node.right, depth)))
            case ast.Div():
                return _together((left, self.text(node.right, depth)), "/")
            case ast.Mod():
                return left.replace("%s", UNKNOWN)
            case _:
                return UNKNOWN

    def _made(self, func: ast.expr, arguments: list[ast.expr], depth: int) -> str:
        name = self.resolve(func)
        if name in _HOMES:
            return "~"
        if name in _PATHS | _JOINS | _EXPANDS and arguments:
            return _together((self.text(each, depth) for each in arguments), "/")
        if isinstance(func, ast.Attribute):
            match func.attr:
                case "expanduser" | "absolute" | "resolve" | "as_posix" | "strip":
                    return self.text(func.value, depth)
                case "joinpath":
                    parts = (func.value, *arguments)
                    return _together((self.text(each, depth) for each in parts), "/")
                case "join" if isinstance(func.value, ast.Constant) and arguments:
                    between = self.text(func.value, depth)
                    return _together(self.words(arguments[0]), between) or UNKNOWN
                case _:
                    pass
        return UNKNOWN

    def _once(self, name: str) -> ast.expr | None:
        """The value of a name that is given one and no other."""
        values = self._values.get(name, ())
        return values[0] if len(values) == 1 else None


def _together(texts: Iterable[str], between: str = "") -> str:
    """Texts as one. What is longer than is put together is unknown from there on."""
    found: list[str] = []
    length = 0
    for text in texts:
        found.append(text)
        length += len(text) + len(between)
        if length > _LONGEST + len(between):
            return between.join(found)[:_LONGEST] + UNKNOWN
    return between.join(found)


def _stored_in(target: ast.AST) -> list[str]:
    """The names that an assignment to this gives values to."""
    names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _bound_by(node: ast.AST) -> list[str]:
    """The names that this gives values to which are only known when it runs."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name)):
            return [name]
        case ast.For(target=target) | ast.comprehension(target=target):
            return _stored_in(target)
        case ast.With(items=items):
            return [
                n for item in items if item.optional_vars for n in _stored_in(item.optional_vars)
            ]
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case _:
            return []

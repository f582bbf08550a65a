"""Constructors take what they use, folders fit a screen, and rooms import one way."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

from tests.repository.tree import ROOMS, ROOT, files

MOST_PARAMETERS = 8
MOST_MODULES = 15
REASON = re.compile(r"\b(so|because)\b")

BUILDERS = frozenset({"app", "assembly", "commands", "embedding"})
"""Rooms of the server that put its parts together."""

MAY_IMPORT: Mapping[str, frozenset[str]] = {
    "adapters": frozenset(
        {
            "gateway.host",
            "gateway.http.responses",
            "gateway.http.adapter_routes",
            "gateway.lan.mdns",
            "gateway.plain_port",
            "home_network",
            "log_context",
            "settings",
            "speech",
            "store.errors",
            "trust.certificates",
            "trust.devices",
            "trust.principal",
            "turn.effects",
            "turn.events",
        }
    ),
}
"""What a room of the server may import of its other rooms."""
MUST_NOT_IMPORT: Mapping[str, frozenset[str]] = {
    "capabilities": frozenset({"gateway", "turn", "conversations", "assembly", "app"}),
}
IMPORTED_BY: Mapping[str, frozenset[str]] = {
    "assembly": BUILDERS,
    "capabilities": frozenset({"assembly"}),
    "adapters": frozenset({"app", "assembly"}),
}
"""Which rooms alone may import a room."""


def too_long(tree: ast.AST) -> Iterator[str]:
    """Classes whose constructor takes more than what a reader can hold at once."""
    for found in ast.walk(tree):
        if not isinstance(found, ast.ClassDef):
            continue
        for method in found.body:
            if isinstance(method, ast.FunctionDef) and method.name in {"__init__", "__new__"}:
                taken = method.args
                count = len((*taken.posonlyargs, *taken.args, *taken.kwonlyargs)) - 1
                if count > MOST_PARAMETERS:
                    yield f"{found.name} takes {count}"


def imports(tree: ast.AST) -> Iterator[str]:
    """What a module of the server imports of the server, below `sayso.server`."""
    for found in ast.walk(tree):
        names: Iterable[str] = ()
        if isinstance(found, ast.ImportFrom) and found.module:
            names = (f"{found.module}.{name.name}" for name in found.names)
        elif isinstance(found, ast.Import):
            names = (name.name for name in found.names)
        yield from (
            name.removeprefix("sayso.server.") for name in names if name.startswith("sayso.server.")
        )


def crossed(path: str, source: str) -> Iterator[str]:
    """Imports of a module that the rules above forbid. `path`: below `server/`."""
    room = PurePosixPath(path).parts[0].removesuffix(".py")
    for name in imports(ast.parse(source)):
        other = name.split(".")[0]
        if other == room:
            continue
        allowed = MAY_IMPORT.get(room)
        if (
            (allowed is not None and not any(f"{name}.".startswith(f"{a}.") for a in allowed))
            or other in MUST_NOT_IMPORT.get(room, ())
            or room not in IMPORTED_BY.get(other, {room})
        ):
            yield f"{path} imports {name}"


def _modules(folder: str) -> list[Path]:
    return [path for path in files(folder) if path.suffix == ".py"]


@pytest.mark.parametrize("room", ROOMS)
def test_no_constructor_takes_more_than_eight_things(room: str) -> None:
    found = {
        str(path.relative_to(ROOT)): long
        for path in _modules(room)
        if (long := list(too_long(ast.parse(path.read_text()))))
    }
    assert found == {}


def test_a_constructor_that_takes_nine_is_seen() -> None:
    names = "a, b, c, /, d, e, *, f, g, h"
    source = "class One:\n    def __init__(self, {}) -> None: ...\n"
    assert list(too_long(ast.parse(source.format(names)))) == []
    assert list(too_long(ast.parse(source.format(f"{names}, i")))) == ["One takes 9"]


def test_a_folder_with_many_modules_says_why() -> None:
    for folder in {path.parent for path in _modules(".")}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        first = folder / "__init__.py"
        if len(modules) > MOST_MODULES:
            told = ast.get_docstring(ast.parse(first.read_text())) if first.exists() else ""
            assert REASON.search(told or ""), f"{folder}: {len(modules)} modules, and no reason"


@pytest.mark.slow
def test_rooms_of_the_server_import_as_they_may() -> None:
    server = ROOT / "server"
    found = [
        line
        for path in _modules("server")
        for line in crossed(path.relative_to(server).as_posix(), path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("conversations/choices.py", "from sayso.server.assembly.models import Builder"),
        ("gateway/http/openai.py", "import sayso.server.adapters.openai"),
        ("agent/loop.py", "from sayso.server.capabilities.browser import tools"),
        ("adapters/openai/chat.py", "from sayso.server.gateway.socket import session"),
        ("adapters/openai/chat.py", "from sayso.server.gateway import hostile"),
        ("capabilities/home/lights.py", "from sayso.server.turn.events import Event"),
    ],
)
def test_an_import_that_crosses_is_seen(path: str, line: str) -> None:
    assert len(list(crossed(path, line))) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("app.py", "from sayso.server.assembly.models import Builder"),
        ("assembly/tools.py", "from sayso.server.capabilities.browser import tools"),
        ("adapters/openai/chat.py", "from sayso.server.gateway.host import Host"),
        ("adapters/openai/chat.py", "from sayso.server.adapters.openai import models"),
        ("capabilities/home/lights.py", "from sayso.server.agent.tools.tool import Tool"),
    ],
)
def test_an_import_that_may_be_is_let_be(path: str, line: str) -> None:
    assert list(crossed(path, line)) == []

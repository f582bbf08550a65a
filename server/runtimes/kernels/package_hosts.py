"""Finds the host from which pip fetches the files of a package index, as the kernels' pip knows it.

Code that is turned away from an index never learns of the other host; whoever opens one without
the other is asked again in the next run. What is read is a file of the kernels' environment, which
confined code cannot write.
"""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sayso.server.runtimes.kernels.environment import KernelEnvironment

_INDEXES: Final = Path("pip", "_internal", "models", "index.py")
_CLASS: Final = "PackageIndex"
_FILES: Final = "file_storage_domain"


def file_host(environment: KernelEnvironment, index: str) -> str:
    """Where the files lie that this host lists; empty if it is not known to list any. Blocking, the
    first time: a thread's."""
    return _file_hosts(environment.folder / environment.library / _INDEXES).get(index, "")


@cache
def _file_hosts(path: Path) -> Mapping[str, str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}  # another pip, or none: then there is a second question
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        urlsplit(url).netloc: host
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == _CLASS
        for url in map(_text, call.args[:1])
        for host in (_text(each.value) for each in call.keywords if each.arg == _FILES)
        if url and host
    }


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

"""Which files a call in Python would read, write or delete, by its name and its arguments. Pure."""

import ast
import re
from collections.abc import Sequence
from typing import Final

from sayso.server.policy.actions import UNKNOWN, How
from sayso.server.policy.languages.python_constants import Constants

DELETES: Final = frozenset(
    ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "pathlib.Path.unlink")
)
_WRITES: Final = frozenset(
    (
        "os.rename", "os.replace", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate",
        "os.makedirs", "os.mkdir", "shutil.move", "shutil.chown", "shutil.make_archive",
    )
)  # fmt: skip
_COPIES: Final = frozenset(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"))
_METHODS: Final[dict[str, How]] = {
    "unlink": "delete", "rmdir": "delete", "write_text": "write", "write_bytes": "write",
    "touch": "write", "rename": "write", "chmod": "write", "mkdir": "write",
}  # fmt: skip
"""Of a path: it is what they are called on that changes."""

_SAVES: Final = frozenset(
    (
        "to_csv", "to_excel", "to_json", "to_parquet", "to_feather", "to_orc", "to_pickle",
        "to_hdf", "to_html", "to_xml", "to_stata", "to_latex", "to_markdown", "to_netcdf", "tofile",
        "ExcelWriter", "HDFStore", "write_csv", "write_parquet", "write_json", "write_image",
        "write_html", "savefig", "save", "savez", "savez_compressed", "savetxt", "imsave",
        "imwrite", "extractall",
    )
)  # fmt: skip
"""Of tables, plots, pictures and archives: they write to the place that they are given, if any."""

_PLACES: Final = frozenset(
    ("path_or_buf", "path_or_buffer", "path", "excel_writer", "fname", "filename", "file", "buf",
     "fp", "out")
)  # fmt: skip
"""By which names such a place is given."""

_OPENS: Final = frozenset(("open", "ZipFile", "TarFile", "GzipFile"))

_MODE: Final = re.compile(r"[rwaxbtU+]{1,4}(?:[:|]\w*)?")
"""What is opened how: `w`, `rb`, a tar's `w:gz`."""


def touched(node: ast.Call, name: str, constants: Constants) -> list[tuple[str, How]]:
    """The places and what is done there; `name` is the full name of what is called."""
    how, places = _of(node, name, constants)
    found: list[tuple[str, How]] = []
    for place in places:
        text = constants.text(place)
        if UNKNOWN not in text and text:
            found.append((text, how))
        elif how != "read":
            found.append((UNKNOWN, how))
    return found


def _of(node: ast.Call, name: str, constants: Constants) -> tuple[How, Sequence[ast.expr]]:
    """What the call does to which of its parts; to none if it is not known to touch files."""
    last = name.rpartition(".")[2]
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in DELETES:
        return "delete", node.args
    if name in _WRITES:
        return "write", node.args
    if name in _COPIES:
        return "write", node.args[1:2] or _named(node, "dst")
    if last in _OPENS:
        return _opened(node, on, constants)
    if on is not None and last in _METHODS:
        return _METHODS[last], [on]
    if last in _SAVES:
        return "write", node.args[:1] or _named(node, *_PLACES)
    return "read", ()


def _opened(
    node: ast.Call, on: ast.expr | None, constants: Constants
) -> tuple[How, Sequence[ast.expr]]:
    """`open(place, mode)`, however it is called; or `place.open(mode)`."""
    first = constants.text(node.args[0]) if node.args else ""
    if on is not None and (not node.args or _MODE.fullmatch(first)):
        mode, places = first, [on]
    else:
        mode = constants.text(node.args[1]) if len(node.args) > 1 else ""
        places = node.args[:1] or _named(node, *_PLACES)
    for given in _named(node, "mode"):
        mode = constants.text(given)
    writes = UNKNOWN in mode or bool(set(mode.partition(":")[0]) & set("wax+"))
    return ("write" if writes else "read"), places


def _named(node: ast.Call, *names: str) -> list[ast.expr]:
    return [each.value for each in node.keywords if each.arg in names]

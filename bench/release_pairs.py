"""Release pairs: two releases of a package, the older of which is to become the newer by edits.

    .venv/bin/python -m bench.release_pairs fetch FOLDER     from the package index, for a person
    .venv/bin/python -m bench.release_pairs try FOLDER       each pair in each form of edits

What changed between the two is written by a program in each form that a model may use, and must
turn every file into the newer one, byte for byte. So it is our reading and placing of edits that is
measured, and no model.
"""

import argparse
import difflib
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from sayso.server.capabilities.coding.inside.folders import Folders
from sayso.server.capabilities.coding.inside.patch_plan import plan
from sayso.server.capabilities.coding.inside.patch_write import write

PAIRS: Final = (
    ("sqlparse", "0.5.0", "0.5.1"),
    ("sqlparse", "0.5.1", "0.5.2"),
    ("tomlkit", "0.12.4", "0.12.5"),
    ("parse", "1.20.1", "1.20.2"),
    ("xmltodict", "0.13.0", "0.14.0"),
    ("cachetools", "5.4.0", "5.5.0"),
    ("pathspec", "0.12.0", "0.12.1"),
    ("semver", "3.0.1", "3.0.2"),
)
ENDINGS: Final = (".py", ".pyi", ".toml", ".cfg", ".txt", ".rst", ".md", ".in")
CONTEXT: Final = 3

Tree = Mapping[str, bytes]
Extent = tuple[int, int, int, int]
"""Lines of the older file, from and to before, and those of the newer that they become."""


def extents(old: Sequence[str], new: Sequence[str]) -> list[Extent]:
    """What changed, with as many lines around it that it stands in one place alone."""
    found: list[Extent] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
        while (a > 0 or b < len(old)) and not _is_alone(old[a:b], old):
            if a > 0:
                a, c = a - 1, c - 1
            if b < len(old):
                b, d = b + 1, d + 1
        if found and a <= found[-1][1]:
            first = found.pop()
            a, c = first[0], first[2]
        found.append((a, b, c, d))
    return found


def _is_alone(part: Sequence[str], lines: Sequence[str]) -> bool:
    part = list(part)
    if not any(line.strip() for line in part):
        return False
    starts = range(len(lines) - len(part) + 1)
    # Without its blanks as well: an edit that is read loosely must still fit in one place.
    plain, there = [line.strip() for line in part], [line.strip() for line in lines]
    return sum(there[at : at + len(part)] == plain for at in starts) == 1


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")[: None if not text.endswith("\n") else -1]


def _signed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            yield from (f" {line}" for line in old[a:b])
        else:
            yield from (f"-{line}" for line in old[a:b])
            yield from (f"+{line}" for line in new[c:d])


def as_marked(path: str, before: str, after: str) -> str:
    """`*** Update File`."""
    old, new = _lines(before), _lines(after)
    if old == new:
        return as_whole(path, before, after)
    parts = [f"*** Update File: {path}"]
    for a, b, c, d in extents(old, new):
        parts += ["@@", *_signed(old[a:b], new[c:d])]
        if b == len(old) and not after.endswith("\n"):
            parts.append("\\ No newline at end of file")
    return "\n".join(parts) + "\n"


def as_blocks(path: str, before: str, after: str) -> str:
    """Search and replace; a file with such marks in it is written whole."""
    old, new = _lines(before), _lines(after)
    marks = ("<<<<<", "=====", ">>>>>")
    ends_otherwise = before.endswith("\n") != after.endswith("\n")
    if ends_otherwise or any(line.startswith(marks) for line in (*old, *new)):
        return as_whole(path, before, after)
    parts = []
    for a, b, c, d in extents(old, new):
        parts += [path, "<<<<<<< SEARCH", *old[a:b], "=======", *new[c:d], ">>>>>>> REPLACE"]
    return "\n".join(parts) + "\n"


def as_unified(path: str, before: str, after: str) -> str:
    """`---` and `+++`, as diff prints it."""
    old, new = _lines(before), _lines(after)
    if old == new:
        return as_whole(path, before, after)
    parts = [f"--- a/{path}", f"+++ b/{path}"]
    for a, b, c, d in extents(old, new):
        parts.append(f"@@ -{a + 1},{b - a} +{c + 1},{d - c} @@")
        parts += _signed(old[a:b], new[c:d])
        if b == len(old) and not after.endswith("\n"):
            parts.append("\\ No newline at end of file")
    return "\n".join(parts) + "\n"


def as_whole(path: str, _before: str, after: str) -> str:
    """`*** Add File`."""
    lines = [f"+{line}" for line in _lines(after)] if after else []
    end = [] if after.endswith("\n") or not after else ["\\ No newline at end of file"]
    return "\n".join((f"*** Add File: {path}", *lines, *end)) + "\n"


FORMS: Final[Mapping[str, Callable[[str, str, str], str]]] = {
    "marked": as_marked,
    "blocks": as_blocks,
    "unified": as_unified,
    "whole": as_whole,
}


def edited(folder: Path, older: Tree, newer: Tree, form: str) -> list[str]:
    """Turn a folder with the older tree into the newer one by edits; return what went wrong."""
    wrong = []
    for path, after in newer.items():
        before = older.get(path)
        if before == after or before is None:
            continue
        patch = FORMS[form](path, before.decode(), after.decode())
        folders = Folders([str(folder)])
        made = plan(patch, folders, {})
        if made.fits:
            write(made.changes, folders)
        folders.close()
        if made.problems:
            wrong.append(f"{path}: {made.problems[0]}")
        elif (folder / path).read_bytes() != after:
            wrong.append(f"{path}: it is not as the newer one")
    return wrong


def read_pair(folder: Path, name: str, old: str, new: str) -> tuple[Tree, Tree] | None:
    """Both trees of text; None if they were not fetched."""
    trees = []
    for version in (old, new):
        found = list(folder.glob(f"{name}-{version}.tar.gz"))
        if not found:
            return None
        trees.append(_tree(found[0]))
    return trees[0], trees[1]


def _tree(archive: Path) -> Tree:
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            file = tar.extractfile(member) if member.isfile() else None
            if file and member.name.endswith(ENDINGS):
                data = file.read()
                path = member.name.partition("/")[2]
                if b"\0" not in data and b"\r\n" not in data and _is_text(data):
                    found[path] = data
    return found


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def fetch(folder: Path) -> None:
    """Get both releases of each pair, as their sources. pip has each say what it is, and runs what
    builds it for that."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:")
    for name, *versions in PAIRS:
        for version in versions:
            wanted = f"{name}=={version}"
            argv = [*pip, "--dest", str(folder), wanted]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            print(wanted, "fetched" if not done.returncode else done.stderr.strip()[-200:])


def put(folder: Path, tree: Tree) -> None:
    """Write a tree."""
    for path, data in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fetch", "try"))
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "fetch":
        fetch(arguments.folder)
        return 0
    failed = 0
    for pair in PAIRS:
        trees = read_pair(arguments.folder, *pair)
        if trees is None:
            print(*pair, "was not fetched")
            continue
        for form in FORMS:
            with tempfile.TemporaryDirectory() as scratch:
                put(Path(scratch), trees[0])
                wrong = edited(Path(scratch), *trees, form)
            failed += len(wrong)
            print(*pair, form, "fine" if not wrong else "\n".join(wrong))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

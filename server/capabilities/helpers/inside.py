"""Scripts that helpers' copies are made and read with, each of which runs in a sandbox."""

import base64
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

HANDED_MOST_BYTES: Final = 2_000_000
"""Of all contents that come back: more is no piece of work that anybody reviews."""

_COPY: Final = """
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=helper
export GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=helper@localhost
set -e
cd -- "$COPY"
if [ -d "$SOURCE/.git" ] && command -v git >/dev/null; then
    git init -q --template= .
    (cd -- "$SOURCE" && realpath -- "$(git rev-parse --git-path objects)") \\
        >.git/objects/info/alternates
    head=$(git -C "$SOURCE" rev-parse -q --verify HEAD) && git update-ref HEAD "$head"
    (cd -- "$SOURCE" && git -c core.fsmonitor=false ls-files -z -co --exclude-standard) |
        while IFS= read -r -d '' name; do
            if [ -e "$SOURCE/$name" ] || [ -L "$SOURCE/$name" ]; then
                mkdir -p -- "./$(dirname -- "$name")"
                cp -dR --preserve=mode,timestamps --reflink=auto -- "$SOURCE/$name" "./$name"
            fi
        done
else
    cp -dR --preserve=mode,timestamps --reflink=auto -- "$SOURCE/." .
    command -v git >/dev/null && git init -q --template= .
fi
git -c core.fsmonitor=false add -A && git commit -q --no-verify --allow-empty -m base
git tag sayso-base
echo "$WORD ready"
"""

_HAND: Final = """
import base64, json, os, subprocess
os.chdir(COPY)
def git(*words):
    return subprocess.run(["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", *words],
                          capture_output=True, stdin=subprocess.DEVNULL)
git("add", "-A")
raw = git("diff", "--cached", "--name-status", "--no-renames", "-z", "sayso-base").stdout
parts = raw.split(b"\\0")[:-1]
files, size, left = {}, 0, []
for how, name in zip(parts[::2], parts[1::2]):
    path = os.fsdecode(name)
    base = None if how == b"A" else git("show", b"sayso-base:" + name).stdout
    new = None
    if how != b"D":
        if os.path.islink(path) or not os.path.isfile(path):
            left.append(path)
            continue
        new = open(path, "rb").read()
    size += len(base or b"") + len(new or b"")
    if size > MOST:
        left.append(path)
        continue
    coded = [None if one is None else base64.b64encode(one).decode() for one in (base, new)]
    files[path] = [*coded, bool(new is not None and os.access(path, os.X_OK))]
diff = git("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "sayso-base")
said = {"files": files, "left": left, "diff": diff.stdout.decode(errors="replace")[:60000]}
print(WORD + base64.b64encode(json.dumps(said).encode()).decode() + WORD)
"""

_MERGE: Final = """
import base64, json, os, subprocess, tempfile
os.chdir(WHERE)
given = json.loads(base64.b64decode(GIVEN))
def coded(one):
    return None if one is None else base64.b64encode(one).decode()
def there(path):
    place = os.path.realpath(path)
    if not place.startswith(os.path.realpath(WHERE) + os.sep) or os.path.islink(path):
        return False, None
    if not os.path.exists(path):
        return True, None
    return (True, open(path, "rb").read()) if os.path.isfile(path) else (False, None)
def merged(current, base, new):
    if current == new or base == new:
        return current, False
    if current == base:
        return new, False
    if current is None or new is None or base is None:
        return current, True
    if any(b"\\0" in one for one in (current, base, new)):
        return current, True
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("yours", "base", "theirs")]
        for name, content in zip(names, (current, base, new)):
            open(name, "wb").write(content)
        done = subprocess.run(["git", "merge-file", "-p", *names], cwd=folder, capture_output=True,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": folder})
    return (done.stdout, False) if done.returncode == 0 else (current, True)
found, conflicts = {}, []
for path, steps in given.items():
    fine, before = there(path)
    now, executable = before, False
    for base, new, executable in steps if fine else ():
        base, new = (None if one is None else base64.b64decode(one) for one in (base, new))
        now, bad = merged(now, base, new)
        fine = fine and not bad
    if not fine:
        conflicts.append(path)
    elif now != before:
        found[path] = [coded(before), coded(now), executable]
print(WORD + base64.b64encode(json.dumps([found, conflicts]).encode()).decode() + WORD)
"""

_WRITE: Final = """
import base64, json, os
os.chdir(WHERE)
given = {path: [None if one is None else base64.b64decode(one) for one in parts[:2]] + parts[2:]
         for path, parts in json.loads(base64.b64decode(GIVEN)).items()}
changed = []
for path, (before, now, executable) in given.items():
    place = os.path.realpath(path)
    inside = place.startswith(os.path.realpath(WHERE) + os.sep) and not os.path.islink(path)
    current = open(path, "rb").read() if inside and os.path.isfile(path) else None
    if not inside or current != before or (current is None and os.path.lexists(path)):
        changed.append(path)
if changed:
    print("Changed meanwhile, so nothing was taken over: " + ", ".join(changed))
else:
    for path, (before, now, executable) in given.items():
        if now is None:
            os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(now)
        if executable:
            os.chmod(path, os.stat(path).st_mode | 0o111)
    print(WORD + "done")
"""


class HandedError(ValueError):
    """What came back cannot be read."""


def copying(source: Path, copy: Path, word: str) -> str:
    """Shell code that copies a folder as it is now; it says `word ready` when that is done."""
    head = f"SOURCE={shlex.quote(str(source))} COPY={shlex.quote(str(copy))} WORD={word}"
    return f"{head}\n( {_COPY} )\n"


def handing(copy: Path, word: str) -> str:
    """Python code that tells what was changed in a copy, as `handed` reads it."""
    return _with({"COPY": str(copy), "WORD": word, "MOST": HANDED_MOST_BYTES}, _HAND)


def merging(where: Path, given: Mapping[str, Any], word: str) -> str:
    """Python code that merges changes into what is there, and writes nothing."""
    return _with({"WHERE": str(where), "WORD": word, "GIVEN": _packed(given)}, _MERGE)


def writing(where: Path, given: Mapping[str, Any], word: str) -> str:
    """Python code that writes files, all or none; it says `word done` when that is done."""
    return _with({"WHERE": str(where), "WORD": word, "GIVEN": _packed(given)}, _WRITE)


def handed(said: str, word: str) -> Any:  # noqa: ANN401 - it is data of any form
    """What such code told. Raises HandedError."""
    parts = said.replace("\n", "").split(word)
    try:
        return read_json(base64.b64decode(parts[1], validate=True), most_bytes=_JSON_MOST)
    except (IndexError, ValueError, UntrustedJsonError):
        raise HandedError("What came back cannot be read.") from None


_JSON_MOST: Final = 4 * HANDED_MOST_BYTES


def content(coded: object) -> bytes | None:
    """A content as it was told. Raises HandedError."""
    if coded is None:
        return None
    if not isinstance(coded, str):
        raise HandedError("What came back cannot be read.")
    try:
        return base64.b64decode(coded, validate=True)
    except ValueError:
        raise HandedError("What came back cannot be read.") from None


def coded(one: bytes | None) -> str | None:
    """A content, to be told."""
    return None if one is None else base64.b64encode(one).decode()


def _packed(value: object) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def _with(values: Mapping[str, object], code: str) -> str:
    return "\n".join([*(f"{name} = {value!r}" for name, value in values.items()), code])

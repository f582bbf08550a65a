"""What each setting means, read from the docstrings of the dataclasses, and the page made from it.

`python -m sayso.server.settings.reference docs/settings.md` writes the page.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from sayso.server.settings.defaults import SECTIONS
from sayso.server.settings.keys import keys
from sayso.server.settings.value_types import Key
from sayso.server.settings.writing import to_toml

HEAD = """# Settings

<!-- Made from server/settings/defaults by `python -m sayso.server.settings.reference`. -->

Every setting has a default; a fresh machine needs none. `sayso settings` shows all values and where
each came from, `sayso settings KEY` explains one, `sayso settings set KEY VALUE` changes one for
good, `sayso settings unset KEY` takes that back. Changes hold from the server's next start.

The first of these that names a setting wins:

1. a flag of the command (`--model`, `--port`, `--set KEY=VALUE`),
2. the environment: `SAYSO_SECTION_NAME`, for example `SAYSO_LISTEN_PORT=9000`; a list is separated
   by commas,
3. `sayso.toml` in the folder where Sayso is started (the project's own settings),
4. `settings.toml` in the configuration folder (`~/.config/sayso`, on macOS
   `~/Library/Application Support/Sayso`, or the folder that `SAYSO_HOME` names),
5. the profile that `agent.profile` or `--profile` names,
6. the default.

A profile is a file of the same form for one kind of work. Sayso brings `default`, `local-small`,
`offline`, `coding` and `data`; your own lie in `profiles` of the configuration folder, for example
`~/.config/sayso/profiles/night.toml`, and are chosen by name: `sayso serve --profile night`.

A project's file may decide only what is marked so below. What decides safety, privacy or where
speech goes is yours alone: a folder that you cloned must not decide it.

A file looks like this:

```toml
[voice]
speed = 1.2

[language_model]
cloud_allowed = ["anthropic"]
```

A name that is no setting, a value of the wrong type and a value out of bounds are each told in one
sentence that names the place, the setting and what is allowed.
"""


@cache
def meanings() -> Mapping[str, str]:
    """What each section (`listen`) and each key (`listen.port`) means, in one paragraph."""
    found: dict[str, str] = {}
    for section, section_type in SECTIONS.items():
        found[section] = _one_paragraph(inspect.getdoc(section_type) or "")
        for field, text in pairwise(_body_of(section_type)):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found[f"{section}.{field.target.id}"] = _one_paragraph(_text(text))
    return MappingProxyType(found)


def _body_of(section_type: type) -> list[ast.stmt]:
    match ast.parse(inspect.getsource(section_type)).body:
        case [ast.ClassDef(body=body)]:
            return body
    return []


def page() -> str:
    """The page for `docs/`."""
    return "\n".join([HEAD, *_body()])


def _body() -> Iterator[str]:
    section = ""
    for key in keys().values():
        if key.section != section:
            section = key.section
            yield f"## `[{section}]`\n"
            yield f"{meanings()[section]}\n"
        yield f"### `{key.dotted}`\n"
        yield f"{meanings()[key.dotted]}\n"
        yield f"{_facts(key)}\n"


def _facts(key: Key) -> str:
    facts = [f"Default: `{to_toml(key.default)}`", f"It must be {key.allowed}"]
    if key.by_project:
        facts.append("A project's file may decide it")
    facts.append(f"Environment: `{key.variable}`")
    return ". ".join(facts) + "."


def _text(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""


def _one_paragraph(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")

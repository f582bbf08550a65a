"""All the languages that code can be written in here: Sayso's own, a person's, and Jupyter's."""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.language import Language
from sayso.server.runtimes.languages.kernelspecs import installed_kernels
from sayso.server.runtimes.languages.shipped import shipped


class LanguageError(Exception):
    """A language of the person's own cannot be had; the message says why and what to do."""


def available(
    environment: KernelEnvironment, entries: Sequence[str] = ()
) -> tuple[tuple[Language, ...], tuple[str, ...]]:
    """Return the languages, and what is wrong with entries that name none.

    An entry is `FILE:CLASS` or `MODULE:CLASS`; a language of the same name as one of ours takes its
    place. Reads files and runs the entries' modules, so call it in a thread.
    """
    found = {language.name: language for language in shipped()}
    complaints: list[str] = []
    for entry in entries:
        try:
            language = load(entry)
        except LanguageError as error:
            complaints.append(str(error))
        else:
            found[language.name] = language
    taken = {name for language in found.values() for name in (language.name, *language.aliases)}
    return (*found.values(), *installed_kernels(environment, taken)), tuple(complaints)


def load(entry: str) -> Language:
    """The language that an entry of the settings names. Raises LanguageError."""
    where, colon, name = entry.strip().rpartition(":")
    if not colon or not name.isidentifier():
        raise LanguageError(
            f"code.languages has {entry}, which names no class; write FILE.py:CLASS."
        )
    try:
        language = getattr(_module(where), name)()
        complete = bool(language.name) and callable(language.runtime) and language.aliases != ""
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise LanguageError(f"The language {entry} cannot be loaded ({why}); mend it.") from error
    if not complete:
        raise LanguageError(f"The language {entry} lacks its name or its runtime; mend it.")
    found: Language = language
    return found


def _module(where: str) -> ModuleType:
    if not where.endswith(".py"):
        return importlib.import_module(where)
    file = Path(where).expanduser()
    spec = importlib.util.spec_from_file_location(f"sayso_language_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

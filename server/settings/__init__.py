"""Typed settings: each with its default, its unit and its reason.

    settings = Settings.load(Home.find(), flags={"listen.port": 9000})
    settings.listen.port

Six sources, the first that names a key wins: flags, environment (`SAYSO_LISTEN_PORT`), the
project's file (`sayso.toml` in the folder where Sayso starts), the person's own file
(`settings.toml` in the configuration folder), the profile that is chosen, the default. What decides
safety, privacy or where speech goes is never taken from a project's file: a cloned folder must not
decide it.

    SettingsError
    ├── UnknownKey       no setting has this name
    ├── WrongValue       the wrong type, or out of bounds
    ├── NotByProject     a project's file names a setting that only the person decides
    └── UnusableFile     unreadable, no TOML, or not to be edited without loss
"""

from sayso.server.settings.defaults import (
    Agent,
    Approvals,
    Code,
    Ears,
    Gateway,
    Jobs,
    LanguageModel,
    Listen,
    Log,
    Models,
    Storage,
    Undo,
    Voice,
)
from sayso.server.settings.errors import (
    NotByProject,
    SettingsError,
    UnknownKey,
    UnusableFile,
    WrongValue,
)
from sayso.server.settings.loading import Origin, Readings, read, user_file
from sayso.server.settings.settings import Settings
from sayso.server.settings.value_types import MB
from sayso.server.settings.writing import set_in_file, unset_in_file

__all__ = [
    "MB",
    "Agent",
    "Approvals",
    "Code",
    "Ears",
    "Gateway",
    "Jobs",
    "LanguageModel",
    "Listen",
    "Log",
    "Models",
    "NotByProject",
    "Origin",
    "Readings",
    "Settings",
    "SettingsError",
    "Storage",
    "Undo",
    "UnknownKey",
    "UnusableFile",
    "Voice",
    "WrongValue",
    "read",
    "set_in_file",
    "unset_in_file",
    "user_file",
]

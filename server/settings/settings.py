"""All settings together."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from sayso.protocol.home import Home
from sayso.server.settings import defaults
from sayso.server.settings.loading import read
from sayso.server.settings.value_types import Value


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, each checked against its type and bounds."""

    listen: defaults.Listen = field(default_factory=defaults.Listen)
    ears: defaults.Ears = field(default_factory=defaults.Ears)
    voice: defaults.Voice = field(default_factory=defaults.Voice)
    language_model: defaults.LanguageModel = field(default_factory=defaults.LanguageModel)
    agent: defaults.Agent = field(default_factory=defaults.Agent)
    jobs: defaults.Jobs = field(default_factory=defaults.Jobs)
    home: defaults.Home = field(default_factory=defaults.Home)
    approvals: defaults.Approvals = field(default_factory=defaults.Approvals)
    code: defaults.Code = field(default_factory=defaults.Code)
    hooks: defaults.Hooks = field(default_factory=defaults.Hooks)
    git: defaults.Git = field(default_factory=defaults.Git)
    web: defaults.Web = field(default_factory=defaults.Web)
    undo: defaults.Undo = field(default_factory=defaults.Undo)
    gateway: defaults.Gateway = field(default_factory=defaults.Gateway)
    adapters: defaults.Adapters = field(default_factory=defaults.Adapters)
    storage: defaults.Storage = field(default_factory=defaults.Storage)
    models: defaults.Models = field(default_factory=defaults.Models)
    log: defaults.Log = field(default_factory=defaults.Log)

    @classmethod
    def load(
        cls,
        home: Home,
        *,
        flags: Mapping[str, object] | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Self:
        """The settings that hold now. Flags are named by dotted key (`{"listen.port": 9000}`).

        `environment` and `folder` (where the project's file is looked for) are this process's own
        unless given. Raises SettingsError.
        """
        readings = read(home, flags=flags, environment=environment, folder=folder)
        return cls.from_values(readings.values)

    @classmethod
    def from_values(cls, values: Mapping[str, Value]) -> Self:
        """From checked values by dotted key; what is not named has its default."""
        tables: dict[str, dict[str, Any]] = defaultdict(dict)
        for dotted, value in values.items():
            section, _, name = dotted.partition(".")
            tables[section][name] = value
        parts: dict[str, Any] = {
            name: section_type(**tables[name]) for name, section_type in defaults.SECTIONS.items()
        }
        return cls(**parts)

"""All settings together."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from sayso.protocol.home import Home
from sayso.server.settings import schema
from sayso.server.settings.loading import read
from sayso.server.settings.value_types import Value


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, each checked against its type and bounds."""

    listen: schema.Listen = field(default_factory=schema.Listen)
    ears: schema.Ears = field(default_factory=schema.Ears)
    voice: schema.Voice = field(default_factory=schema.Voice)
    language_model: schema.LanguageModel = field(default_factory=schema.LanguageModel)
    agent: schema.Agent = field(default_factory=schema.Agent)
    jobs: schema.Jobs = field(default_factory=schema.Jobs)
    home: schema.Home = field(default_factory=schema.Home)
    approvals: schema.Approvals = field(default_factory=schema.Approvals)
    code: schema.Code = field(default_factory=schema.Code)
    git: schema.Git = field(default_factory=schema.Git)
    undo: schema.Undo = field(default_factory=schema.Undo)
    gateway: schema.Gateway = field(default_factory=schema.Gateway)
    adapters: schema.Adapters = field(default_factory=schema.Adapters)
    storage: schema.Storage = field(default_factory=schema.Storage)
    models: schema.Models = field(default_factory=schema.Models)
    log: schema.Log = field(default_factory=schema.Log)

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
            name: section_type(**tables[name]) for name, section_type in schema.SECTIONS.items()
        }
        return cls(**parts)

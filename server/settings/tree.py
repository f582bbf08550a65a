"""All settings together."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from sayso.protocol.home import Home
from sayso.server.settings import sections
from sayso.server.settings.keys import Value
from sayso.server.settings.loading import read


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, each checked against its type and bounds."""

    listen: sections.Listen = field(default_factory=sections.Listen)
    ears: sections.Ears = field(default_factory=sections.Ears)
    voice: sections.Voice = field(default_factory=sections.Voice)
    language_model: sections.LanguageModel = field(default_factory=sections.LanguageModel)
    agent: sections.Agent = field(default_factory=sections.Agent)
    approvals: sections.Approvals = field(default_factory=sections.Approvals)
    code: sections.Code = field(default_factory=sections.Code)
    undo: sections.Undo = field(default_factory=sections.Undo)
    gateway: sections.Gateway = field(default_factory=sections.Gateway)
    storage: sections.Storage = field(default_factory=sections.Storage)
    models: sections.Models = field(default_factory=sections.Models)
    log: sections.Log = field(default_factory=sections.Log)

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
            name: section_type(**tables[name]) for name, section_type in sections.SECTIONS.items()
        }
        return cls(**parts)

"""The default of every setting, with its unit and its reason: a module for each section.

There are as many modules as sections, so that `[voice]` is `voice.py`. The docstrings below each
field are what `docs/settings.md` and `sayso settings KEY` show.
"""

from sayso.server.settings.defaults.adapters import Adapters
from sayso.server.settings.defaults.agent import Agent
from sayso.server.settings.defaults.approvals import Approvals
from sayso.server.settings.defaults.code import Code
from sayso.server.settings.defaults.ears import Ears
from sayso.server.settings.defaults.gateway import Gateway
from sayso.server.settings.defaults.git import Git
from sayso.server.settings.defaults.home import Home
from sayso.server.settings.defaults.hooks import Hooks
from sayso.server.settings.defaults.jobs import Jobs
from sayso.server.settings.defaults.language_model import LanguageModel
from sayso.server.settings.defaults.listen import Listen
from sayso.server.settings.defaults.log import Log
from sayso.server.settings.defaults.models import Models
from sayso.server.settings.defaults.storage import Storage
from sayso.server.settings.defaults.undo import Undo
from sayso.server.settings.defaults.voice import Voice
from sayso.server.settings.defaults.web import Web

SECTIONS: dict[str, type] = {
    "listen": Listen,
    "ears": Ears,
    "voice": Voice,
    "language_model": LanguageModel,
    "agent": Agent,
    "jobs": Jobs,
    "home": Home,
    "approvals": Approvals,
    "code": Code,
    "hooks": Hooks,
    "git": Git,
    "web": Web,
    "undo": Undo,
    "gateway": Gateway,
    "adapters": Adapters,
    "storage": Storage,
    "models": Models,
    "log": Log,
}
"""Each section by its name in files and flags."""

__all__ = [
    "SECTIONS",
    "Adapters",
    "Agent",
    "Approvals",
    "Code",
    "Ears",
    "Gateway",
    "Git",
    "Home",
    "Hooks",
    "Jobs",
    "LanguageModel",
    "Listen",
    "Log",
    "Models",
    "Storage",
    "Undo",
    "Voice",
    "Web",
]

"""Model files: which there are, whether they are whole, and how to get more.

    installed = InstalledModels(Home.find())
    model = installed.ready("ears", "tiny.en")    # found and verified; Whisper opens model.path
    installed.models()                            # everything that is here

Starter models come inside Python packages, which are found through their metadata and never
imported. Further models lie in the data folder, one folder each, put there by `fetch`.

    ModelError
    ├── ModelMissing     not here; the text names the command that gets it
    ├── ModelDamaged     here, but not whole; the text names the command that repairs it
    ├── NameUnknown      no model can be meant by this name
    └── FetchFailed      the hub could not be reached or did not give what it promised
"""

from sayso.server.models.errors import (
    FetchFailed,
    ModelDamaged,
    ModelError,
    ModelMissing,
    NameUnknown,
)
from sayso.server.models.installed import InstalledModels
from sayso.server.models.model import Digest, Kind, Model, ModelFile

__all__ = [
    "Digest",
    "FetchFailed",
    "InstalledModels",
    "Kind",
    "Model",
    "ModelDamaged",
    "ModelError",
    "ModelFile",
    "ModelMissing",
    "NameUnknown",
]

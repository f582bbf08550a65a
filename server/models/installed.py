"""All models on this machine: finds one by name, lists them, makes sure that they are whole."""

import logging
import re
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.models.errors import ModelDamaged, ModelMissing
from sayso.server.models.manifest import MANIFEST, Manifest
from sayso.server.models.model import Kind, Model, ModelFile
from sayso.server.models.starters import STARTERS, locate, starter
from sayso.server.models.verification import verify

logger = logging.getLogger(__name__)

WHISPER_FILES = ("config.json", "model.bin", "tokenizer.json")
"""Without these, a folder is no Whisper model in CTranslate2 format."""


class InstalledModels:
    """The models of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @property
    def folder(self) -> Path:
        """Where fetched models lie."""
        return self._home.data / "models"

    def models(self) -> tuple[Model, ...]:
        """Every model here, starters first. They need not be whole."""
        found = []
        for one in STARTERS:
            try:
                found.append(locate(one))
            except ModelMissing:
                continue
        return (*found, *self._fetched())

    def find(self, kind: Kind, name: str) -> Model:
        """The model of this name, or at this path. Raises ModelMissing, ModelDamaged."""
        if name.startswith(("/", "./", "../", "~")) or ("/" in name and Path(name).exists()):
            return at_path(kind, Path(name).expanduser())
        for one in STARTERS:
            if (one.kind, one.name) == (kind, name):
                return locate(one)
        folder = self.folder_of(kind, name)
        if (folder / MANIFEST).exists():
            return Manifest.read(folder).model(folder)
        message = f"The model {name} is not here; get it with `sayso models get {name}`."
        raise ModelMissing(message)

    def ready(self, kind: Kind, name: str) -> Model:
        """The model of this name, found whole. Raises ModelMissing, ModelDamaged.

        Hashes files that it has not seen before, which takes up to a second: not for an event loop.
        """
        model = self.find(kind, name)
        self.verify(model)
        return model

    def starter(self, kind: Kind) -> Model:
        """The one that comes with Sayso, found whole. Raises ModelMissing, ModelDamaged."""
        return self.ready(kind, starter(kind).name)

    def verify(self, model: Model, *, trust_memory: bool = True) -> None:
        """Raises ModelDamaged if a file of the model is not whole. See `verification`."""
        verify(model, self._home, trust_memory=trust_memory)

    def folder_of(self, kind: Kind, name: str) -> Path:
        """Where the fetched model of this name lies, or would."""
        return self.folder / kind / folder_name(name)

    def _fetched(self) -> list[Model]:
        found = []
        for note in sorted(self.folder.glob(f"*/*/{MANIFEST}")):
            try:
                found.append(Manifest.read(note.parent).model(note.parent))
            except ModelDamaged as damage:
                logger.warning("%s", damage)
        return found


def folder_name(name: str) -> str:
    """A model's name as the name of a folder: it cannot lead elsewhere or be hidden."""
    return re.sub(r"[^A-Za-z0-9._-]", "--", name).lstrip(".") or "--"


def at_path(kind: Kind, path: Path) -> Model:
    """A model of the person's own, wherever it lies. Raises ModelMissing, ModelDamaged."""
    path = path.absolute()
    if not path.exists():
        message = f"There is nothing at {path}; name the path of a model, or one of `sayso models`."
        raise ModelMissing(message)
    files: list[Path]
    if kind == "ears":
        missing = [name for name in WHISPER_FILES if not (path / name).is_file()]
        if missing:
            message = (
                f"{path} is no Whisper model in CTranslate2 format ({', '.join(missing)} missing); "
                f"name a folder that faster-whisper can load, or a model from `sayso models`."
            )
            raise ModelDamaged(message)
        files = sorted(one for one in path.iterdir() if one.is_file())
        language = "en" if ".en" in path.name else "many"
    else:
        suffix = ".onnx" if kind == "voice" else ".gguf"
        files = [path, path.with_name(path.name + ".json")] if kind == "voice" else [path]
        absent = next((one for one in files if not one.is_file()), None)
        if path.suffix != suffix or absent:
            what = f"{absent} is missing" if absent else f"{path} is no {suffix} file"
            message = f"{what}; name the path of a whole model, or one from `sayso models`."
            raise ModelDamaged(message)
        language = path.name[:2] if kind == "voice" else "many"
    return Model(
        name=str(path),
        kind=kind,
        path=path,
        files=tuple(ModelFile(one, one.stat().st_size, None) for one in files),
        licence="unknown",
        language=language,
        source="path",
        origin="a path of your own, which Sayso cannot verify",
        remedy="copy the model to that place again",
    )

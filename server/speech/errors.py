"""What can go wrong with ears and mouth, each as one sentence that says what to do.

SpeechError
 ├── ModelMissing      there is no model where one was named
 ├── ModelBroken       a model is there and cannot be used
 ├── PackageMissing    the library that runs the model is not installed
 └── WorkerFailed      the process that runs the model cannot be kept alive

`RecognizerLost` and `SynthesizerLost` stand with the seams: they mean "ask again", not "tell the
person". The room's faces, `Ears` and `Mouth`, ask again by themselves.
"""


class SpeechError(Exception):
    """Ears or mouth cannot do their work. The text is for the person who runs Sayso."""


class ModelMissing(SpeechError):
    """There is no model where one was named."""


class ModelBroken(SpeechError):
    """The model's files are damaged, or are not a model of this kind."""


class PackageMissing(SpeechError):
    """The library that runs the model is not installed."""


class WorkerFailed(SpeechError):
    """The process that runs the model did not start, or does not stay alive."""


BY_NAME: dict[str, type[SpeechError]] = {
    kind.__name__: kind
    for kind in (SpeechError, ModelMissing, ModelBroken, PackageMissing, WorkerFailed)
}
"""How an error that a worker process reports becomes the same error here."""

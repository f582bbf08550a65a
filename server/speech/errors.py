"""Errors of recognition and synthesis, each as one sentence that says what to do.

SpeechError
 ├── ModelMissing      there is no model where one was named
 ├── ModelBroken       a model is there and cannot be used
 ├── PackageMissing    the library that runs the model is not installed
 ├── WorkerFailed      the process that runs the model cannot be kept alive
 ├── EngineMissing     no engine has the name that the settings give, or its settings name no server
 ├── TooManySpeak      the machine cannot keep up with all who speak at once
 └── ServerFailed      a server for speech did not do what it was asked

`RecognizerLost` and `SynthesizerLost` stand with the seams: they mean "ask again", not "tell the
person". `SpeechRecognition` and `SpeechSynthesis` ask again by themselves.
"""


class SpeechError(Exception):
    """Recognition or synthesis failed. The text is for the person who runs Sayso."""


class ModelMissing(SpeechError):
    """There is no model where one was named."""


class ModelBroken(SpeechError):
    """The model's files are damaged, or are not a model of this kind."""


class PackageMissing(SpeechError):
    """The library that runs the model is not installed."""


class WorkerFailed(SpeechError):
    """The process that runs the model did not start, or does not stay alive."""


class EngineMissing(SpeechError):
    """No engine has the name that the settings give, or its settings do not name a server that it
    may ask."""


class TooManySpeak(SpeechError):
    """The machine cannot keep up with all who speak, or are spoken to, at once."""


class ServerFailed(SpeechError):
    """A server for speech did not do what it was asked."""

    def __init__(self, sentence: str, *, may_pass: bool = False, after_s: float = 0.0) -> None:
        super().__init__(sentence)
        self.may_pass = may_pass
        """Whether it is worth asking again."""
        self.after_s = after_s
        """How long the server wants to be left alone."""


BY_NAME: dict[str, type[SpeechError]] = {
    kind.__name__: kind
    for kind in (SpeechError, ModelMissing, ModelBroken, PackageMissing, WorkerFailed)
}
"""How an error that a worker process reports becomes the same error here."""

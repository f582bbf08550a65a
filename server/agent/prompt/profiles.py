"""Prompt profiles: a model's instructions, the wording of its outputs, the size of its context.

A profile is data. Strong models get a short prompt that never changes, so that providers can cache
it; small ones get worked examples, since they imitate better than they obey.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

Way = Literal["call", "fence", "code"]
"""A tool call of the model's wire, the language of a fence, or a function inside of code."""


@dataclass(frozen=True, slots=True)
class Example:
    """One worked request, told in the profile's own templates."""

    asked: str
    answer: str
    code: str = ""
    """What was run for it; empty if it was answered at once."""
    begins: str = ""
    """What the code begins with whatever was asked."""
    output: str = ""


@dataclass(frozen=True, slots=True)
class PlainAnswers:
    """What is said of a run's outcome where the model cannot be trusted to say it."""

    result: str
    """`{output}`: what was printed."""
    shown: str
    """Of a picture or a long output."""
    done: str
    """When nothing was printed."""
    refused: str
    """When the person did not want it run."""
    failed: str
    """`{problem}`: the last line of the error."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How to talk to one kind of model. `{…}` in a template is filled in."""

    name: str
    system: str
    """`{languages}`, `{where}` and `{system}`: what runs here, in which folder and on what."""
    with_tool: str = ""
    """Added to the system prompt of a model that calls tools."""
    with_fences: str = ""
    """Added to the system prompt of a model that writes fenced code."""
    access: str = ""
    """Added to the system prompt where code runs: how to ask for more reach. Empty: it is not."""
    calls: str = ""
    """Added to the system prompt where Python runs: which functions code may call. Empty: the model
    is not told of them."""
    languages: Mapping[str, str] = field(default_factory=dict)
    """Added to the system prompt where code runs: how what is no programming language is written,
    by its name. One that is not here is not offered."""
    limits: str = ""
    """Added to the system prompt where code runs: `{steps}`, `{minutes}` and `{at_hand}`."""
    sees: str = ""
    """Added to the system prompt of a model that looks at pictures, where code runs."""
    sees_not: str = ""
    """Added to the system prompt of one that does not."""
    situation: bool = True
    """Whether the model is told with requests when it is, and what code may do."""
    without_code: str = ""
    """Added to the system prompt instead, where no code can run. `{refusal}`: why."""
    ways: tuple[Way, ...] = ("call", "fence")
    """How the model is offered what it can do: in the first of call and fence that it is capable
    of; with `code`, also as functions that the code may call."""
    first_fence: bool = False
    """Whether code in the first fence of a reply is run, and what follows it is dropped: for models
    that make up what came of it. Else a fence is run if it ends the reply, and shown if not."""
    examples: tuple[Example, ...] = ()
    examples_shown: int = 0
    """Of the examples the model is shown so many, those most like the request; 0 shows all."""
    sure_likeness: float = 0.0
    """An example at least so like the request decides whether code is written, and the reply is
    begun for the model as the example's code begins; its server must continue an assistant's
    message. 0: never."""
    request: str = "{text}"
    """What the person says."""
    meanwhile: str = "(I say this while you are at work on it:) {text}"
    """What the person says about a request that is being worked on."""
    about_code: str = (
        "(Before I say whether this may run, I ask about it. Answer in one or two sentences, and"
        " write no code:) {text}"
    )
    """What the person asks about code that waits for their yes."""
    about_running: str = (
        "(While this runs, I ask about it. Answer in one or two sentences, and write no code:)"
        " {text}"
    )
    """What the person asks about code that runs."""
    output: str = "{output}"
    """What a run printed, when it went well."""
    marks: bool = True
    """Whether output stands between marks that show where it ends."""
    empty: str = "It ran and printed nothing."
    failed: str = "It failed:\n{output}"
    not_run: str = "{detail}"
    """A run that was refused, interrupted or lost."""
    edited: str = "The person changed the code; this ran:\n{code}\n"
    """Goes before what came of code that the person edited."""
    places_note: str = (
        "(Here I name {places}. Use it by this whole path; I am asked to open it when your code"
        " does.)\n"
    )
    """Goes before a request that names folders or files of the person's own. `{places}`: where they
    are."""
    cut_note: str = "(I did not hear your last answer to the end.)\n"
    """Goes before the next request if the last answer was interrupted."""
    interrupted_note: str = "(I stopped you there.)\n"
    """Goes before the next request if the work was interrupted."""
    cut_off_note: str = (
        "(Your program ended in the middle of that, and is back. Nothing was run a second time.)\n"
    )
    """Goes before the next request if the server ended in the middle of the last."""
    failed_note: str = (
        "(Your answer to that failed, I was told so, and it is over: take it up again only if I ask"
        " for it.)\n"
    )
    """Goes before the next request if the model or the disk failed over the last."""
    unanswered: str = "(I gave no answer to this.)"
    """Stands for the answer to a request that ended without one, so that no later request is read
    together with it."""
    state_lost_note: str = "(The interpreters are new: variables of earlier code are gone.)\n"
    """Goes before the next request if the interpreters ended since the last."""
    taken_back_note: str = (
        "(I had what you last did to files undone: {paths} are as they were before it; could not be"
        " put back: {left}. Variables of that code, and what it did elsewhere, are not undone.)\n"
    )
    """Goes before the next request if an earlier one was undone, which is then told no more."""
    made_again_note: str = "(I had what was undone done again: {paths}.)\n"
    answers: PlainAnswers | None = None
    """Set for a model whose account of a result is checked."""
    runs: int = 0
    """Times that the model may run code for one request; what it says then is the answer, code or
    not. 0 leaves it to the bounds."""
    instructions: str = ""
    """The person's own, added at the end of the system prompt."""
    folder_instructions_chars: int = 24_000
    """Of the instructions of one folder (AGENTS.md); 0: the model is told none."""
    looks_first: bool = False
    """Whether the model is told of a repository with the first request there: some 1,000 tokens."""
    history_chars: int = 0
    """Characters of conversation that the model can make use of; 0 leaves it to the bounds. The
    request itself is always told."""
    temperature: float | None = None
    """None leaves it to the model's provider."""
    reply_tokens: int | None = None
    """Longest reply. None leaves it to the model's provider."""


PROFILES: Final = ("default", "local-small", "pocket")


_MARK: Final = "▸"
"""Stands in an example's code where its beginning ends."""


@cache
def profile(name: str) -> ModelProfile:
    """A shipped profile."""
    fields = dict(cast(Mapping[str, Any], _read("profiles.toml")[name]))
    source = fields.pop("examples_in", "")
    examples = cast(Sequence[Mapping[str, str]], _read(source)["examples"]) if source else ()
    answers = cast(Mapping[str, str] | None, fields.pop("answers", None))
    return ModelProfile(
        name=name,
        examples=tuple(_example(**example) for example in examples),
        answers=PlainAnswers(**answers) if answers else None,
        ways=tuple(fields.pop("ways", ("call", "fence"))),
        **fields,
    )


def _read(name: str) -> Mapping[str, object]:
    return tomllib.loads(files("sayso.server.agent.prompt").joinpath(name).read_text("utf-8"))


def _example(asked: str, answer: str, code: str = "", output: str = "") -> Example:
    begins, mark, rest = code.partition(_MARK)
    return Example(asked, answer, begins + rest, begins if mark else "", output)

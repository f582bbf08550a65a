"""The seam Tool: everything that a model can do is one.

A tool has a name, one line about its use, a JSON schema of its arguments, and `run`. What it may do
is not its own to say: the person's mode and rules decide, `judge` can only be stricter than they
are, and `may_touch` is what the person is shown. A call of a tool is kept and shown as a label and
a text, as code is kept by its language: `read` makes arguments of that text and `write` a text of
arguments, by default JSON with its keys in order, so that the same call is always shown the same.

A tool is offered in ways that the model's profile and the tool itself name: as a call of the
model's own wire, as the language of a fence, and as a function that code may call while it runs.
All three come from what is here, so a tool knows nothing of any.
"""

import asyncio
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, get_args

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.jobs.part_jobs import PartJobs
from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.llm.model import ToolDefinition
from sayso.server.agent.permissions.access_requests import AccessRequests
from sayso.server.agent.prompt.profiles import Way
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.tools.person import Person
from sayso.server.agent.tools.schema import problems
from sayso.server.policy.actions import Actions
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.programs.programs import RunPrograms
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.plans import PlanChanged
from sayso.server.store.testing import Tested

Arguments = Mapping[str, Any]

WAYS: Final[frozenset[Way]] = frozenset(get_args(Way))

Kind = Literal["reads", "looks", "keeps", "requests", "acts"]
"""`reads`: what the conversation holds already, unasked and unseen. `looks`: files that code may
see at that moment, by a program of Sayso's own in the sandbox that can write nothing and has no
network (`ToolContext.programs.look`): what the mode read-only lets any code do unasked. So it is
unasked in every mode unless a rule of the person's asks, and recorded, marked and shown as code is.
`keeps`: notes of the person's own, which they hear and take back with a word; unasked, too, and
refused once what strangers wrote may be behind it. `requests`: it puts a question of its own to the
person, and does nothing else. `acts`: it is asked about, recorded and shown as code is."""

SHOWN_OF_A_HASH: Final = 12
"""Characters, enough for a person to see that two differ; the approval is bound to all of them."""


class ArgumentsError(ValueError):
    """These are no arguments of the tool; the text tells the model what to change."""


class ToolRefused(Exception):
    """The tool did nothing; the text tells the model why."""

    def __init__(self, why: str, told: str = "") -> None:
        """`told`: the same for the person, where that is shorter."""
        super().__init__(why)
        self.told = told


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call as it is kept and shown."""

    label: str
    """The language of code, or the tool's name."""
    text: str


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works with, beside its arguments."""

    run: str
    """The id of the call."""
    history: History
    outputs: RunOutputs
    access: AccessRequests
    alone: bool = False
    """Apart from what earlier runs left."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The run goes on in the background, and nobody waits for it."""
    programs: RunPrograms | None = None
    """Sayso's own programs in the sandbox, as far as the run reaches; none where no code runs."""
    where: str = ""
    """The folder in which the conversation's code runs."""
    person: Person | None = None
    """Who can be asked something while the tool works; None where nobody can."""
    note: Callable[[Tested | PlanChanged], Awaitable[object]] | None = None
    """Writes down what was tested, or is planned. Raises StoreError."""
    usage: RequestUsage | None = None
    """What the request has used, and may use."""
    parts: PartJobs | None = None
    """Lists what works for the call by itself."""


class Tool(ABC):
    """One thing that a model can do."""

    name: str
    use: str
    """What it does, for the model, in a line."""
    schema: Mapping[str, Any]
    """JSON schema of its arguments, an object."""
    undo: str = "undo does not take it back"
    """What a person should know about taking it back; empty where Sayso's undo does all of it."""
    kind: ClassVar[Kind] = "acts"
    outside: ClassVar[bool] = True
    """Whether it does its work outside of the sandbox."""
    ways: frozenset[Way] = WAYS
    """How its author lets it be offered; the model's profile chooses among them."""
    runs_code: ClassVar[bool] = False
    """Whether it is the one that runs the model's own code, which can go on in the background and
    call functions."""
    needs_code: ClassVar[bool] = False
    """Whether it is offered only where code runs: it works in the sandbox."""
    shown: ClassVar[bool] = False
    """Of the kind `reads`: whether screens show its calls, as they show code."""
    small_steps: ClassVar[bool] = False
    """An errand takes dozens of its calls, such as clicks; they are counted apart from runs."""
    told: str = ""
    """What the model is told of it beyond its definition; read anew for each request."""
    listed: bool = True
    """Whether it is listed among the functions of code; else another tool's `told` lists it."""
    is_language: ClassVar[bool] = False
    """Whether its one argument is a text: a model that calls tools then writes it as code in one
    more language, and needs no other tool for it."""

    @property
    def labels(self) -> Sequence[str]:
        """Under which its calls are written, kept and shown."""
        return (self.name,)

    @property
    def definition(self) -> ToolDefinition:
        """For models that call tools."""
        function = {"name": self.name, "description": self.use, "parameters": self.schema}
        return {"type": "function", "function": function}

    @property
    def definition_hash(self) -> str:
        """Of all that the model and the person are told of it; an approval is bound to it."""
        return hashlib.sha256(canonical(self.definition).encode()).hexdigest()

    @property
    def source(self) -> str:
        """What a person is told that its results are from, where strangers may have written
        them; empty where nobody did."""
        return f"the tool {self.name}"

    @property
    def brings(self) -> str:
        """From where strangers' words come with its results; empty if none do."""
        return self.source if self.outside else ""

    def told_with(self, request: str) -> str:
        """What the model is told together with a request in these words, of the person's own; for
        tools whose things a person calls by name."""
        return ""

    async def told_first(self, request: str, context: ToolContext) -> str:
        """What the model is told unasked of a folder, with the first request there; empty where
        that is nothing, or would take long. For tools that look. Raises ToolRefused."""
        return ""

    def goes_unasked(self, arguments: Arguments, read: Sequence[str]) -> bool:
        """Whether a call that acts outside needs no yes where no rule asks for one. `read`: from
        where strangers' words were read here. Sayso's own tools alone may say so."""
        return False

    def hindrance(self, label: str) -> str:
        """Why a call with this label can't be carried out now, in words for the person and the
        model; empty if it can."""
        return ""

    def read_call(self, arguments: str) -> WrittenCall | None:
        """What a tool call meant; None if it can't be understood at all. Arguments that are wrong
        are kept as they are, so that the model can be told what is wrong."""
        arguments = arguments if arguments.strip() else "{}"
        try:
            return WrittenCall(self.name, self.write(self.read(self.name, arguments)))
        except ArgumentsError:
            return WrittenCall(self.name, arguments)

    def read_fence(self, label: str, text: str) -> WrittenCall | None:
        """What a fence with a label of this tool meant; None if it is only shown."""
        call = self.read_call(text)
        return WrittenCall(label, call.text) if call else None

    def as_call(self, label: str, text: str) -> tuple[str, str] | None:
        """Name and arguments of the tool call that a kept call was; None if it was none."""
        return self.name, text

    def read(self, label: str, text: str) -> Arguments:
        """The arguments in a call's text. Raises ArgumentsError."""
        try:
            value = read_json(text, control_characters=True)
        except UntrustedJsonError as error:
            raise ArgumentsError(f"The arguments must be a JSON object: {error}.") from None
        if wrong := problems(value, self.schema):
            raise ArgumentsError(f"{' '.join(wrong)} Call {self.name} again with that changed.")
        arguments: Arguments = value
        return arguments

    def write(self, arguments: Arguments) -> str:
        """Arguments as a call's text."""
        return canonical(arguments)

    async def prepare(self, arguments: Arguments, context: ToolContext) -> Arguments:
        """What is asked about and carried out instead of these arguments, worked out from what is
        there now, before anybody is asked. Raises ToolRefused where it could not be done: then
        nobody is."""
        return arguments

    def looks_at(self, arguments: Arguments, where: str) -> Actions | None:
        """What `prepare` reads before anybody is asked: rules about places hold for that, too. None
        where it reads no place that rules could name. `where`: the conversation's folder."""
        return None

    def actions(self, arguments: Arguments, where: str) -> Actions | None:
        """All that a call does, where that is known for certain; None leaves it to those who read
        code. `where`: the conversation's folder."""
        return None

    def stays_in(self, arguments: Arguments, folder: str) -> bool:
        """Whether it is certain that a call works on plain files of this folder and nothing else:
        then a tap may allow further ones like it until the request is done."""
        return False

    def judge(self, arguments: Arguments) -> Judgement:
        """What the tool itself has against a call: `ask` and `deny` count, and warnings are shown;
        nothing that it says allows anything."""
        return Judgement()

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        """What a call could touch, in words for the person."""
        return ("whatever this tool does, outside of the sandbox",)

    def value(self, outputs: Sequence[Output]) -> object:
        """What code gets that calls it as a function, of what `run` put out: text, or another value
        that JSON can say."""
        return "".join(output.text for output in outputs)

    @abstractmethod
    def run(self, arguments: Arguments, context: ToolContext) -> AsyncIterator[Output | Ending]:
        """Do it. The last thing that comes is the Ending; leaving the iteration early stops it.
        Raises ToolRefused where nothing was done, if the tool is not of the kind `acts`."""


class ToolSet:
    """Tools from several places, each of which may have others from one request to the next."""

    def __init__(self, *sources: Iterable[Tool]) -> None:
        self._sources = sources

    def __iter__(self) -> Iterator[Tool]:
        for source in self._sources:
            yield from source


def approval_words(tool: Tool, arguments: Arguments) -> tuple[str, ...]:
    """What the person is told that a call could touch, and what undo does about it."""
    words = tool.may_touch(arguments)
    if not tool.outside:
        return words
    seen = f"definition {tool.definition_hash[:SHOWN_OF_A_HASH]}"
    return (*words, *filter(None, (tool.undo,)), seen)


def canonical(value: object) -> str:
    """The one way in which a JSON value is written."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)

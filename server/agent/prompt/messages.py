"""The conversation as messages: the same history for models with tools and models without. Pure."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sayso.server.agent.llm.embedded.examples import ExampleBook
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.parsing.fences import fenced
from sayso.server.agent.parsing.markdown_reader import Fences
from sayso.server.agent.prompt.compaction import compact, length_of, shorten
from sayso.server.agent.prompt.language_names import DEFAULT
from sayso.server.agent.prompt.profiles import Example, ModelProfile, Way
from sayso.server.agent.prompt.server_notes import NOT_YET, between_marks, own_words
from sayso.server.agent.record.history import Act, Exchange, History, Step
from sayso.server.agent.tools.read_output import ReadOutput
from sayso.server.agent.tools.request_access import RequestAccess
from sayso.server.agent.tools.run_code import CodeRunner, RunCode
from sayso.server.agent.tools.tool import Tool
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.store.records import Call, MadeAgain, RunReported, TakenBack

PICTURES: Final = 4
"""So many at most are shown to a model again with each request: each takes as much as a page."""

MARK_CHARS: Final = 4
"""Of a run's id, in the marks around its output: few tokens, and enough to tell it from others."""

LEAST_TOLD: Final = 2_000
"""Characters: some five hundred tokens, without which no model can go on."""

Pictures = Mapping[str, tuple[str, bytes]]
"""By name: its form and its bytes."""


_PATHS_TOLD: Final = 20
"""Of what was undone: the model can look for itself."""

_FIELD: Final = re.compile(r"\{(paths|left)\}")


@dataclass(frozen=True, slots=True)
class Sending:
    """One request to the model."""

    messages: Sequence[ChatMessage]
    begun: str
    """How the reply is begun: the last message, which the model continues; empty if it is not."""


class Prompt:
    """Writes prompts for one model and one place where code runs."""

    def __init__(
        self,
        profile: ModelProfile,
        code_runner: CodeRunner,
        *,
        calls_tools: bool,
        characters: int,
        tools: Sequence[Tool] = (),
    ) -> None:
        """`characters`: how much of the conversation is told at most. `tools`: what was added to
        Sayso's own."""
        code = RunCode(code_runner)
        self._runs = code.languages
        if not self._runs:
            talk = tuple(example for example in profile.examples if not example.code)
            profile = replace(profile, examples=talk)
        own = (RequestAccess(code_runner.refusal), ReadOutput())
        untold = () if profile.access else (RequestAccess.name,)
        self.toolbox = Toolbox(code, own, tools, untold)
        self.answers = profile.answers
        way: Way = next((way for way in profile.ways if way != "call" or calls_tools), "fence")
        self.tools = self.toolbox.definitions if way == "call" else []
        self._brief: frozenset[str] = frozenset()
        self._pictures: Pictures = {}
        self._characters = min(profile.history_chars or characters, characters)
        self._profile = profile
        self._book = ExampleBook(profile)
        self._system = self._write_system(code_runner, way)

    def _write_system(self, code_runner: CodeRunner, offered: Way) -> ChatMessage:
        profile = self._profile
        way = profile.with_tool if offered == "call" else profile.with_fences
        way = f"{way.strip()}\n{profile.access.strip()}" if self._runs else profile.without_code
        if "python" in self._runs:
            way = f"{way.strip()}\n{profile.calls.strip()}"
        text = f"{profile.system.strip()}\n{way.strip()}".strip()
        own = profile.instructions.strip()
        if offered == "fence":
            own = f"{self.toolbox.fences}\n{own}".strip()
        text = text.replace("{languages}", ", ".join(self._runs) or "none")
        text = text.replace("{where}", code_runner.where).replace("{refusal}", code_runner.refusal)
        return {"role": "system", "content": f"{text}\n{own}" if own else text}

    def fences(self, runs: int) -> Fences:
        """What fenced code in the next reply means, after so many runs."""
        if not self.toolbox.languages.here or (self._profile.runs and runs >= self._profile.runs):
            return "nothing runs"
        return "show" if self.tools else "run"

    @property
    def characters(self) -> int:
        """How much of the conversation is told at most."""
        return self._characters

    def shrink(self, history: History) -> bool:
        """Tell half as much as now from here on; false if that would be too little to be of use."""
        told = compact(history.told, self._characters)
        half = (length_of(told.exchanges, told.brief) + len(told.notes)) // 2
        if half < LEAST_TOLD:
            return False
        self._characters = min(self._characters, half)
        return True

    def pictures(self, history: History) -> Sequence[str]:
        """The names of those that the model is to be shown, the latest, moving on in blocks so that
        the beginning of the prompt stays the same."""
        exchanges = compact(history.told, self._characters).exchanges
        names = [
            name
            for exchange in exchanges
            for step in exchange.steps
            for act in step.acts
            for name in (act.report.pictures if act.report else ())
        ]
        return names[max(0, len(names) - 1) // PICTURES * PICTURES :]

    def write(self, history: History, pictures: Pictures | None = None) -> Sending:
        """What the model is to be sent."""
        told = compact(history.told, self._characters)
        exchanges, self._brief = told.exchanges, told.brief
        self._pictures = pictures or {}
        current = exchanges[-1]
        ran = any(step.acts for step in current.steps)
        chosen = self._book.choose(current.asked, ran=ran)
        messages = [self._system]
        for number, example in enumerate(chosen.examples):
            self._add_exchange(messages, self._worked(example, number, ran=ran), None)
        if told.notes:
            self._add(messages, "user", told.notes)
        before: Exchange | None = None
        for exchange in exchanges:
            self._add_exchange(messages, exchange, before)
            before = exchange
        if chosen.begun:
            self._add(messages, "assistant", chosen.begun)
        return Sending(messages, chosen.begun)

    def _worked(self, example: Example, number: int, *, ran: bool) -> Exchange:
        """An example as if it had happened; where answers are checked, only as far as the request
        has come: a small model needs to see how code is written, or how its output is told.
        """
        exchange = Exchange(example.asked)
        if example.code and self.answers and not ran:
            exchange.steps.append(Step(fenced(DEFAULT, example.code), []))
            return exchange
        if example.code:
            call = Call(f"example{number}", DEFAULT, example.code)
            report = RunReported(call.id, "ok", output=example.output)
            exchange.steps.append(Step("", [Act(call, report=report)]))
        exchange.steps.append(Step(example.answer, []))
        return exchange

    def _add_exchange(
        self, messages: list[ChatMessage], exchange: Exchange, before: Exchange | None
    ) -> None:
        self._add(messages, "user", self._request(exchange, before))
        for step in exchange.steps:
            self._add_step(messages, step)

    def _request(self, exchange: Exchange, before: Exchange | None) -> str:
        note = ""
        if before is not None and before.cut_off:
            note = self._profile.cut_off_note
        elif before is not None and before.interrupted:
            note = self._profile.interrupted_note
        elif before is not None and before.cut:
            note = self._profile.cut_note
        if exchange.state_lost:
            note += self._profile.state_lost_note
        note += "".join(self._about_undo(news) for news in exchange.news)
        if exchange.places and self._runs:
            places = self._marked("places", ", ".join(exchange.places))
            note += self._profile.places_note.replace("{places}", places)
        return note + self._profile.request.replace("{text}", exchange.asked)

    def _about_undo(self, news: TakenBack | MadeAgain) -> str:
        profile = self._profile
        back = isinstance(news, TakenBack)
        note = profile.taken_back_note if back else profile.made_again_note
        paths = ", ".join((*news.restored, *news.removed)[:_PATHS_TOLD])
        named = {"paths": paths, "left": ", ".join(news.left)}
        told = {
            name: self._marked("files", text) if text else "none" for name, text in named.items()
        }
        return _FIELD.sub(lambda found: told[found[1]], note)

    def _marked(self, name: str, text: str) -> str:
        """Names that others gave, in the middle of a sentence."""
        return f"\n{between_marks(name, text)}\n" if self._profile.marks else text

    def _add_step(self, messages: list[ChatMessage], step: Step) -> None:
        if self.tools and step.acts:
            calls = [self._tool_call(act) for act in step.acts]
            content = step.text or None
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            for act in step.acts:
                told = self.told(act)
                messages.append({"role": "tool", "tool_call_id": _call_id(act), "content": told})
            self._show(messages, step)
            return
        text = step.text + "\n".join(_written(act.call) for act in step.acts)
        if text:
            self._add(messages, "assistant", text)
        if step.acts:
            self._add(messages, "user", "\n".join(self.told(act) for act in step.acts))
            self._show(messages, step)

    def _tool_call(self, act: Act) -> Mapping[str, Any]:
        name, arguments = self.toolbox.as_call(act.call.language, act.call.code)
        function = {"name": name, "arguments": arguments}
        return {"id": _call_id(act), "type": "function", "function": function}

    def _show(self, messages: list[ChatMessage], step: Step) -> None:
        """What was drawn, for a model that sees."""
        names = [name for act in step.acts if act.report for name in act.report.pictures]
        parts = [_picture(*self._pictures[name]) for name in names if name in self._pictures]
        if not parts:
            return
        last = messages[-1]
        if last["role"] == "user":
            messages[-1] = {**last, "content": [*_parts(last["content"]), *parts]}
        else:
            messages.append({"role": "user", "content": [*_parts("What was shown:"), *parts]})

    def told(self, act: Act) -> str:
        """What the model is told about a call."""
        profile, report = self._profile, act.report
        edited, output = "", report.output if report else ""
        if act.call.id in self._brief:
            output = shorten(output)
        if act.intended is not None and act.edited:
            code = fenced(act.intended.language, act.intended.code)
            edited = profile.edited.replace("{code}", code)
        if report is None:
            return edited + profile.not_run.replace("{detail}", NOT_YET)
        if report.status in ("ok", "error"):
            template = profile.failed if report.status == "error" else profile.output
            output = self._between_marks(act, output, report.detail)
            template = template if output.strip() else profile.empty
            return edited + template.replace("{output}", output)
        own = own_words(report.status, report.detail) if profile.marks else report.detail
        told = profile.not_run.replace("{detail}", own)
        detail = "" if own == report.detail else report.detail
        return edited + f"{told}\n{self._between_marks(act, output, detail)}".strip()

    def _between_marks(self, act: Act, output: str, detail: str) -> str:
        """What is not ours to say: what was printed, and how it ended where that does not say it,
        which code can word."""
        output = output.strip("\n")
        if detail not in output:
            output = f"{output}\n[{detail}]".lstrip()
        if not self._profile.marks or not output.strip():
            return output
        return between_marks(act.call.id[:MARK_CHARS], output)

    @staticmethod
    def _add(messages: list[ChatMessage], role: str, content: str) -> None:
        """Add a message, or add to the last one: some servers insist that roles take turns."""
        last = messages[-1]
        if last["role"] == role and "tool_calls" not in last:
            joined: object = f"{last['content']}\n\n{content}"
            if isinstance(last["content"], list):
                joined = [*last["content"], *_parts(content)]
            messages[-1] = {**last, "content": joined}
        else:
            messages.append({"role": role, "content": content})


def _parts(content: object) -> list[object]:
    """A message's content as a list, which pictures can join."""
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]


def _picture(mime: str, data: bytes) -> Mapping[str, Any]:
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call_id(act: Act) -> str:
    return act.call.given_id or act.call.id


def _written(call: Call) -> str:
    return call.written or fenced(call.language, call.code)

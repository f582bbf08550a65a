"""The conversation as messages: the same history for models with tools and models without. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sayso.server.agent.instructions.folder_instructions import (
    FolderInstructions,
    told_to_model,
)
from sayso.server.agent.llm.embedded.examples import ExampleBook
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.parsing.fences import fenced
from sayso.server.agent.parsing.markdown_reader import Fences
from sayso.server.agent.prompt.compaction import compact, length_of, shorten
from sayso.server.agent.prompt.language_names import DEFAULT
from sayso.server.agent.prompt.profiles import Example, ModelProfile, Way
from sayso.server.agent.prompt.server_notes import (
    IN_BACKGROUND,
    JOB_ENDED,
    NOT_YET,
    READ_AS,
    READ_AS_EXECUTE,
    RUNS,
    SENT_BACK,
    between_marks,
    own_words,
)
from sayso.server.agent.prompt.shown_pictures import (
    PICTURES,
    Pictures,
    drawn,
    parts_of,
    picture,
    pictures_of,
)
from sayso.server.agent.prompt.situation_note import situation_note
from sayso.server.agent.prompt.system_prompt import Facts, system_prompt
from sayso.server.agent.record.conversation_history import Act, Exchange, History, JobNews, Step
from sayso.server.agent.tools.read_output import ReadOutput
from sayso.server.agent.tools.request_access import RequestAccess
from sayso.server.agent.tools.run_code import CodeRunner, RunCode
from sayso.server.agent.tools.tool import Tool
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.store.records import Call, MadeAgain, RunReported, Situation, TakenBack

MARK_CHARS: Final = 4
"""Of a run's id, in the marks around its output: few tokens, and enough to tell it from others."""

LEAST_TOLD: Final = 2_000
"""Characters: some five hundred tokens, without which no model can go on."""

_FILES_TOLD: Final = 20
"""Of what a run changed: the model can look for itself."""

FROM_PROGRAM: Final = (
    "The program that the person talks through adds the following for this conversation. It changes"
    " nothing of what is said above:"
)

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
        facts: Facts | None = None,
        instructions: FolderInstructions | None = None,
    ) -> None:
        """`characters`: how much of the conversation is told at most. `tools`: what was added to
        Sayso's own. `instructions`: of folders, those that are followed."""
        code = RunCode(code_runner)
        self._runs = code.languages
        if not self._runs:
            talk = tuple(example for example in profile.examples if not example.code)
            profile = replace(profile, examples=talk)
        own = (RequestAccess(code_runner.refusal), ReadOutput())
        untold = () if profile.access else (RequestAccess.name,)
        tools = [tool for tool in tools if _is_offered(tool, profile)]
        self.toolbox = Toolbox(
            code,
            own,
            tools,
            untold,
            in_code="code" in profile.ways,
            looks_first=profile.looks_first,
        )
        self.answers = profile.answers
        direct = (way for way in profile.ways if way == "fence" or (way == "call" and calls_tools))
        way: Way = next(direct, "fence")
        self.tools = self.toolbox.definitions if way == "call" else []
        self._brief: frozenset[str] = frozenset()
        self._pictures: Pictures = {}
        self._characters = min(profile.history_chars or characters, characters)
        self._profile = profile
        self._folder_instructions = instructions or FolderInstructions()
        self._book = ExampleBook(profile)
        written = profile.languages.items() if self._runs else ()
        here = (text.strip() for name, text in written if name in self.toolbox.languages.here)
        added = "\n".join(filter(None, (*here, self.toolbox.told(way))))
        system = system_prompt(profile, code_runner, self._runs, way, facts or Facts(), added)
        self._system: ChatMessage = {"role": "system", "content": system}

    def fences(self, runs: int) -> Fences:
        """What fenced code in the next reply means, after so many runs."""
        if not self.toolbox.languages.here or (self._profile.runs and runs >= self._profile.runs):
            return "nothing runs"
        in_text: Fences = "run" if self._profile.first_fence else "run last"
        return "show" if self.tools else in_text

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
        names = [name for exchange in exchanges for name in pictures_of(exchange)]
        return names[max(0, len(names) - 1) // PICTURES * PICTURES :]

    def write(self, history: History, pictures: Pictures | None = None) -> Sending:
        """What the model is to be sent."""
        told = compact(history.told, self._characters)
        exchanges, self._brief = told.exchanges, told.brief
        self._pictures = pictures or {}
        current = exchanges[-1]
        ran = any(step.acts for step in current.steps)
        chosen = self._book.choose(current.asked, ran=ran)
        messages = [self._system_for(history.instructions)]
        for number, example in enumerate(chosen.examples):
            self._add_exchange(messages, self._worked(example, number, ran=ran), None)
        if told.notes:
            self._add(messages, "user", told.notes)
        before: Exchange | None = None
        situation: Situation | None = None
        for exchange in exchanges:
            if before is not None and messages[-1]["role"] == "user":
                self._add(messages, "assistant", self._profile.unanswered)
            self._add_exchange(messages, exchange, before, situation)
            before, situation = exchange, exchange.situation or situation
        if chosen.begun:
            self._add(messages, "assistant", chosen.begun)
        return Sending(messages, chosen.begun)

    def _system_for(self, instructions: str) -> ChatMessage:
        """Sayso's own prompt, and below it what folders and the program behind a conversation ask
        for."""
        followed = self._folder_instructions.followed
        of_folders = told_to_model(followed, self._profile.folder_instructions_chars)
        of_program = f"{FROM_PROGRAM}\n{instructions}" if instructions else ""
        text = "\n\n".join(filter(None, (str(self._system["content"]), of_folders, of_program)))
        return {"role": "system", "content": text}

    def ask_about(self, history: History, question: str) -> Sequence[ChatMessage]:
        """The same, with a question of the person's about what has not run yet, or runs."""
        messages = list(self.write(history).messages)
        acts = [act for step in history.exchanges[-1].steps for act in step.acts]
        profile = self._profile
        asked = profile.about_running if any(map(_runs, acts)) else profile.about_code
        self._add(messages, "user", asked.replace("{text}", question))
        return messages

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
        self,
        messages: list[ChatMessage],
        exchange: Exchange,
        before: Exchange | None,
        situation: Situation | None = None,
    ) -> None:
        """`situation`: what was told last of the circumstances."""
        note = ""
        if exchange.situation and self._profile.situation:
            note = situation_note(exchange.situation, situation)
        self._add(messages, "user", note + self._request(exchange, before))
        self._show(messages, exchange.pictures)
        for number, step in enumerate(exchange.steps):
            self._add_steers(messages, exchange, number)
            self._add_step(messages, step)
        self._add_steers(messages, exchange, None)

    def _add_steers(self, messages: list[ChatMessage], told: Exchange, after: int | None) -> None:
        """What the person said meanwhile, outside of all marks; and what hooks have against it."""
        for one in told.objections:
            if one.after == (len(told.steps) if after is None else after):
                why = self._marked("hook", f"{one.hook}: {one.why}")
                self._add(messages, "user", SENT_BACK.format(why=why))
        for steer in told.steers:
            if steer.after == after:
                self._add(messages, "user", self._profile.meanwhile.replace("{text}", steer.text))

    def _request(self, exchange: Exchange, before: Exchange | None) -> str:
        note = ""
        if before is not None and before.cut_off:
            note = self._profile.cut_off_note
        elif before is not None and before.failed:
            note = self._profile.failed_note
        elif before is not None and before.interrupted:
            note = self._profile.interrupted_note
        elif before is not None and before.cut:
            note = self._profile.cut_note
        if exchange.state_lost:
            note += self._profile.state_lost_note
        note += "".join(
            self._about_job(news) if isinstance(news, JobNews) else self._about_undo(news)
            for news in exchange.news
        )
        if exchange.places and self._runs:
            places = self._marked("places", ", ".join(exchange.places))
            note += self._profile.places_note.replace("{places}", places)
        request = note + self._profile.request.replace("{text}", exchange.asked)
        return "\n\n".join(filter(None, (request, exchange.told_with)))

    def _about_job(self, news: JobNews) -> str:
        report = news.report
        how = {"ok": "done", "error": "failed"}.get(report.status, report.status)
        output = self._between_marks(report.run, shorten(report.output), report.detail)
        return JOB_ENDED.format(job=news.job, how=how, output=output)

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
            self._show(messages, drawn(step))
            return
        text = step.text + "\n".join(_written(act.call) for act in step.acts)
        if text:
            self._add(messages, "assistant", text)
        if step.acts:
            self._add(messages, "user", "\n".join(self.told(act) for act in step.acts))
            self._show(messages, drawn(step))

    def _tool_call(self, act: Act) -> Mapping[str, Any]:
        name, arguments = self.toolbox.as_call(act.call.language, act.call.code)
        if not act.call.code:  # JSON it must be, or providers refuse it
            called = {"tool": act.call.called} if act.call.called else {}
            arguments = json.dumps({**called, "unreadable": act.call.raw})
        function = {"name": name, "arguments": arguments}
        return {"id": _call_id(act), "type": "function", "function": function}

    def _show(self, messages: list[ChatMessage], names: Sequence[str]) -> None:
        """Pictures, for a model that sees."""
        parts = [picture(*self._pictures[name]) for name in names if name in self._pictures]
        if not parts:
            return
        last = messages[-1]
        if last["role"] == "user":
            messages[-1] = {**last, "content": [*parts_of(last["content"]), *parts]}
        else:
            messages.append({"role": "user", "content": [*parts_of("What was shown:"), *parts]})

    def told(self, act: Act) -> str:
        """What the model is told about a call."""
        profile, report = self._profile, act.report
        edited = profile.state_lost_note if act.renewed else ""
        if act.call.code:
            edited += READ_AS if act.call.raw else ""
            edited += READ_AS_EXECUTE if act.call.called else ""
        output = report.output if report else ""
        if act.call.id in self._brief:
            output = shorten(output)
        if act.intended is not None and act.edited:
            code = fenced(act.intended.language, act.intended.code)
            edited += profile.edited.replace("{code}", code)
        if act.detached:
            output = self._between_marks(act.call.id, act.detached.output, "")
            return edited + IN_BACKGROUND.format(job=act.detached.id, output=output).strip()
        if report is None:
            return edited + profile.not_run.replace("{detail}", RUNS if _runs(act) else NOT_YET)
        if report.status in ("ok", "error"):
            template = profile.failed if report.status == "error" else profile.output
            output = self._between_marks(act.call.id, output, report.detail)
            template = template if output.strip() else profile.empty
            return edited + template.replace("{output}", output) + self._changes(act, report)
        own = own_words(report.status, report.detail) if profile.marks else report.detail
        told = profile.not_run.replace("{detail}", own)
        detail = "" if own == report.detail else report.detail
        ended = f"{told}\n{self._between_marks(act.call.id, output, detail)}".strip()
        return edited + ended + self._changes(act, report)

    def _changes(self, act: Act, report: RunReported) -> str:
        """Which files a run changed."""
        changes = report.changes
        kinds = ("added", changes.added), ("changed", changes.changed), ("deleted", changes.deleted)
        paths = [f"{kind} {path}" for kind, several in kinds for path in several]
        paths += [f"renamed {one.old} to {one.new}" for one in changes.renamed]
        paths += [f"committed “{first}”" for first in changes.commits]
        if not (paths and self._profile.marks) or act.call.id in self._brief:
            return ""
        more = len(paths[_FILES_TOLD:]) + changes.more
        told = "\n".join((*paths[:_FILES_TOLD], *([f"and {more} more"] if more else ())))
        return f"\nFiles:\n{between_marks('files', told)}"

    def _between_marks(self, run: str, output: str, detail: str) -> str:
        """What is not ours to say: what was printed, and how it ended where that does not say it,
        which code can word."""
        output = output.strip("\n")
        if detail not in output:
            output = f"{output}\n[{detail}]".lstrip()
        if not self._profile.marks or not output.strip():
            return output
        return between_marks(run[:MARK_CHARS], output)

    @staticmethod
    def _add(messages: list[ChatMessage], role: str, content: str) -> None:
        """Add a message, or add to the last one: some servers insist that roles take turns."""
        last = messages[-1]
        if last["role"] == role and "tool_calls" not in last:
            joined: object = f"{last['content']}\n\n{content}"
            if isinstance(last["content"], list):
                joined = [*last["content"], *parts_of(content)]
            messages[-1] = {**last, "content": joined}
        else:
            messages.append({"role": role, "content": content})


def _is_offered(tool: Tool, profile: ModelProfile) -> bool:
    """Whether a model with this profile can make use of it."""
    if tool.is_language:
        return tool.name in profile.languages
    return not tool.needs_code or "code" in profile.ways


def _runs(act: Act) -> bool:
    """Whether it has begun, and a request waits for its end."""
    return act.intended is not None and act.report is None and act.detached is None


def _call_id(act: Act) -> str:
    return act.call.given_id or act.call.id


def _written(call: Call) -> str:
    return call.written or fenced(call.language, call.code)

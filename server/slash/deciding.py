"""Commands about the say-so: what runs unasked, and what was granted."""

from sayso.server.agent.say_so import MEANINGS, ModeError
from sayso.server.slash.choosing import not_here
from sayso.server.slash.command import Command, Outcome, Situation
from sayso.server.store.records import ModeChanged


async def _mode(situation: Situation) -> Outcome:
    say_so = situation.here.agent.say_so
    wanted = situation.text.strip()
    if not wanted:
        lines = [
            f"{'▸' if mode == say_so.mode else ' '} {mode:<10} {meaning}"
            for mode, meaning in MEANINGS.items()
        ]
        return Outcome("\n".join(lines))
    if refusal := not_here(situation):
        return refusal
    try:
        mode = say_so.change_mode(wanted, at_console=situation.at_console)
    except ModeError as problem:
        return Outcome(str(problem), ok=False)
    await situation.here.journal.note("person", ModeChanged(mode, situation.device))
    return Outcome(f"The mode is {mode} from the next run on: {MEANINGS[mode]}.")


async def _grants(situation: Situation) -> Outcome:
    say_so = situation.here.agent.say_so
    if situation.text.strip() in ("forget", "clear"):
        say_so.take_back()
        return Outcome(
            "What was granted for this conversation is taken back from the next run on."
            " What was granted for good stands in the settings: `sayso settings code`."
        )
    granted = say_so.granted
    lines = [str(each) for each in granted.folders]
    lines += [f"host {host}" for host in granted.hosts]
    lines += ["any public host on the network"] if granted.network else []
    return Outcome("\n".join(lines) or "Nothing beyond the workspace is granted.")


DECIDING = (
    Command("mode", "what runs unasked: read-only, ask, workspace or full", _mode),
    Command("grants", "what code may reach besides; `/grants forget` takes it back", _grants),
)

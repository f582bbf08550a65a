"""The modes of a conversation: what its code may do unasked, what is asked first, and its grants.

    read-only   code may look and change nothing, has no network, and is not asked about
    ask         every run is asked about, unless a rule allows it
    workspace   what stays in the sandbox runs unasked
    full        there is no sandbox: what the server's own user may do, code may do

In every mode the person's rules and the shipped dangers may ask, or forbid. `full` is for a person
at the server's own console alone: in its settings, or with a client that showed this machine's
token.
"""

import asyncio
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

from sayso.server.agent.instructions.folder_instructions import FolderInstructions
from sayso.server.agent.permissions.access_syntax import AccessRequest
from sayso.server.agent.permissions.grants_text import Grant, HeldGrants, HeldLeases
from sayso.server.agent.permissions.hooks import Hooks, NoHooks
from sayso.server.agent.permissions.outside_content import OutsideContent
from sayso.server.agent.permissions.task_grant import TaskGrant
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.policy.actions import Actions
from sayso.server.policy.judge import Judgement, Policy
from sayso.server.runtimes.grants import Folder, GrantError, Grants, folder, personal
from sayso.server.runtimes.network.proxy import Permission
from sayso.server.runtimes.protection.folder_identity import Identity

Mode = Literal["read-only", "ask", "workspace", "full"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

MEANINGS: Final[dict[Mode, str]] = {
    "read-only": "code may look, and change nothing; it runs unasked",
    "ask": "every run needs your yes",
    "workspace": "what stays in the sandbox runs unasked",
    "full": "no sandbox: code may do all that you may",
}

_CLOSED: Final = (
    "{path} is not what it was when you opened it, for another folder or a link is in its place:"
    " it is closed, and can be asked for again."
)


class ModeError(Exception):
    """The mode stays as it is; the message is one sentence that says why."""


class Reachable(Protocol):
    """Where code runs, as far as its reach goes."""

    @property
    def reach(self) -> Grants: ...

    async def set_reach(self, reach: Grants) -> bool:
        """Let this be what code can reach; return whether variables were lost over it."""
        ...

    def heed(self, permission: Permission) -> None:
        """Let nothing pass into the network, at any moment, but what this then allows."""
        ...

    @property
    def where(self) -> str: ...

    @property
    def identity(self) -> Identity | None:
        """By what the folder where it runs is recognised."""
        ...


class StandingPermissions(Protocol):
    """What the person granted for good."""

    @property
    def reach(self) -> Grants: ...

    def close(self, part: Grants) -> None:
        """Let this hold no more until it is granted anew."""
        ...

    async def keep(self, granted: Grants) -> str:
        """Keep this for good; return what went wrong, in a sentence, or nothing."""
        ...

    async def drop(self, part: Grants) -> str:
        """Keep this no more; return what went wrong, in a sentence, or nothing."""
        ...


class Neighbours(Protocol):
    """Other conversations whose code may write where this one's does."""

    async def found(self, folders: Sequence[Path]) -> tuple[str, ...]:
        """What their code has read, and may have left in these folders."""
        ...

    async def left(self, folders: Sequence[Path], sources: Iterable[str]) -> None:
        """Code here may have left there what it read from these."""
        ...

    def wipe(self) -> None:
        """The conversation begins anew."""
        ...


class Permissions:
    """Of one conversation."""

    def __init__(
        self,
        policy: Policy | None = None,
        mode: Mode = "ask",
        standing: StandingPermissions | None = None,
        *,
        guest: bool = False,
        neighbours: Neighbours | None = None,
        instructions: FolderInstructions | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        """`guest`: the machine's folders are not this person's to grant. `neighbours`: other
        conversations whose code may write where this one's does. Raises ModeError where there is no
        such mode."""
        mode = _known(mode)
        if guest and mode == "full":
            mode = "ask"
        self._policy = policy or Policy()
        self._mode: Mode = mode
        self._first_mode: Mode = mode
        self._standing = standing
        self._guest = guest
        self._neighbours = neighbours
        self._own = Grants()
        self._closed: list[Folder] = []
        self.instructions = instructions or FolderInstructions()
        """What folders say how to work there, as far as it is followed."""
        self.task = TaskGrant()
        """What the person allowed until the request is done."""
        self.hooks = hooks or NoHooks()
        """The person's own programs, which are asked too."""
        self.outside_content = OutsideContent()
        """The untrusted content that was read."""
        self.declined_hosts: set[str] = set()
        """Hosts that code tried to reach and the person did not open: they are not asked again."""
        self.leases = HeldLeases()
        """What is open to a capability alone for a while, such as hosts to the browser."""

    @property
    def mode(self) -> Mode:
        """Taken up by the next run."""
        return self._mode

    @property
    def reach(self) -> Grants:
        """What code may reach in this mode, with all that was granted."""
        return replace(
            self.granted,
            closed=self._policy.denied_hosts,
            look_only=self._mode == "read-only",
            everything=self._mode == "full",
        )

    @property
    def granted(self) -> Grants:
        """What was granted, for good and for this conversation."""
        standing = self._standing.reach if self._standing else Grants()
        return standing.joined(self._own).joined(Grants(hosts=self._policy.allowed_hosts))

    def change_mode(self, wanted: str, *, at_console: bool) -> Mode:
        """From the next run on. Raises ModeError."""
        name = _known(wanted)
        if name == "full" and not at_console:
            raise ModeError(
                "The mode full is for a person at the server's own console: set it there."
            )
        self._mode = name
        return self._mode

    @property
    def held(self) -> tuple[HeldGrants, ...]:
        """All that is granted, one by one."""
        standing = self._standing.reach if self._standing else Grants()
        ruled = Grants(hosts=self._policy.allowed_hosts).without(standing)
        return (
            *(HeldGrants(part, "conversation") for part in self._own.parts),
            *(HeldGrants(part, "good") for part in standing.parts),
            *(HeldGrants(part, "rule") for part in ruled.parts),
        )

    async def take_back(self, held: HeldGrants) -> str:
        """From the next run on it is granted no more; return what went wrong, in a sentence, or
        nothing.
        """
        if held.until == "rule":
            return f"A rule of yours allows {held.line}: `sayso settings approvals.rules`."
        if held.until == "good":
            return await self._standing.drop(held.part) if self._standing else ""
        self._own = self._own.without(held.part)
        return ""

    def forget(self) -> None:
        """Begin anew, as the settings have it."""
        self._own = Grants()
        self._mode = self._first_mode
        self.outside_content.forget()
        self.instructions.forget()
        self.declined_hosts.clear()
        self.leases.end()
        if self._neighbours:
            self._neighbours.wipe()

    def restore(self, terms: ConversationSettings) -> list[str]:
        """Let what was decided before the conversation was closed hold again; return what does not,
        in sentences.

        The mode full does not: nobody is to find the sandbox gone who did not just ask for it.
        """
        lost = []
        if terms.mode == "full" and self._first_mode != "full":
            lost.append(f"The mode full ended with the server; it is {self._mode} again.")
        elif terms.mode in MODES:
            self._mode = next(mode for mode in MODES if mode == terms.mode)
        own = replace(terms.granted, folders=())
        for each in terms.granted.folders:
            try:
                # What was granted before folders were recognised is, from now on, what is there:
                # no link is followed, and the rules are gone through again.
                own = own.with_folder(each.recognised())
            except GrantError:
                self._closed.append(each)
                lost.append(_CLOSED.format(path=each.path))
        self._own = own
        self.outside_content.read(sorted(terms.heard))
        if terms.ran:
            self.outside_content.read(str(each.path) for each in self.granted.folders)
        return lost

    async def close_changed(self) -> str:
        """Close what is not what it was when it was granted, because another folder or a link was
        put in its place; return what to tell, in sentences, or nothing.
        """
        granted = self.granted.folders
        changed = [each for each in granted if not await asyncio.to_thread(each.is_unchanged)]
        for each in changed:
            part = Grants((each,))
            self._own = self._own.without(part)
            if self._standing:
                self._standing.close(part)
        self._closed += changed
        return " ".join(_CLOSED.format(path=each.path) for each in changed)

    def take_closed(self) -> tuple[Grants, ...]:
        """What was closed since this was last asked, to be written down."""
        closed, self._closed = self._closed, []
        return tuple(Grants((each,)) for each in closed)

    async def hindrance(self, host: str) -> str:
        """Why nothing may be sent to a host that is granted, as a clause; empty if it may be. The
        person may be asked for it."""
        return "" if self._mode == "full" else await self.outside_content.hindrance(host)

    async def take_up(self, folders: Sequence[Path]) -> tuple[str, ...]:
        """Take over the mark of those whose code may have written in these folders; return what
        they had read. From now on, others take over the mark of this conversation there."""
        if self._neighbours is None:
            return ()
        found = await self._neighbours.found(folders)
        self.outside_content.read(found)
        return found

    async def leave(self, folders: Sequence[Path], also: Iterable[str] = ()) -> None:
        """Code of this conversation wrote in these folders, or may. `also`: what it may read from
        now on, and write there before anybody knows."""
        if self._neighbours:
            await self._neighbours.left(folders, (*self.outside_content.sources, *also))

    async def settle(self, code_runner: Reachable) -> bool:
        """See to it that code has this reach; return whether variables were lost over it."""
        wanted = self.reach
        return code_runner.reach != wanted and await code_runner.set_reach(wanted)

    def judge(
        self,
        language: str,
        code: str,
        *,
        outside: bool = False,
        known: Actions | None = None,
        unasked: bool = False,
    ) -> Judgement:
        """What the rules say of code. `outside`: it acts outside of the sandbox, which no mode but
        full lets it do unasked; nor does a rule, once untrusted content was read. `known`: what it
        does, where that need not be read out of it. `unasked`: it is of a kind that needs no yes
        where no rule asks for one."""
        judged = self._policy.judge(language, code, known)
        if unasked and self._mode != "full":
            return replace(judged, verdict="allow") if judged.verdict == "none" else judged
        if not outside or self._mode == "full":
            return judged
        if why := self.outside_content.why:
            return judged.and_stricter(Judgement("ask", (why,)))
        return replace(judged, verdict="ask") if judged.verdict == "none" else judged

    def must_ask(self, judgement: Judgement) -> bool:
        """Whether code with this judgement needs a yes."""
        if self._mode == "ask":
            return judgement.verdict != "allow"
        return judgement.verdict == "ask"

    def weigh(self, access_request: AccessRequest) -> Grant:
        """What granting a wish would mean. Raises GrantError where it is never granted."""
        if self._mode == "read-only" and (
            access_request.hosts
            or access_request.network
            or any(place.access == "write" for place in access_request.places)
        ):
            raise GrantError("The mode is read-only: there is no writing, and no network.")
        if access_request.places:
            self.check_that_folders_are_theirs()
        folders = tuple(self._weighed(place.path, place.access) for place in access_request.places)
        for host in access_request.hosts:
            if Grants(closed=self._policy.denied_hosts, network=True).lets_pass(host):
                continue
            raise GrantError(f"A rule of the person's forbids {host}.")
        before = self.granted
        after = before
        for each in folders:
            after = after.with_folder(each)
        for host in access_request.hosts:
            after = after if after.lets_pass(host) else after.with_host(host)
        if access_request.network:
            after = replace(after, network=True)
        added = Grants(
            tuple(each for each in after.folders if each not in before.folders),
            tuple(host for host in after.hosts if host not in before.hosts),
            network=after.network and not before.network,
        )
        return Grant(after, added, self._warnings(added), before.needs_new_kernel(after))

    @property
    def opens_folders(self) -> bool:
        """Whether this machine's folders are this person's to open."""
        return not self._guest

    def check_that_folders_are_theirs(self) -> None:
        """Raise GrantError if this conversation's person does not own the machine."""
        if self._guest:
            raise GrantError(
                "This machine's folders are its owner's: in your conversations code has the "
                "workspace, and you can send files into it."
            )

    async def grant(self, grant: Grant, *, lasting: bool) -> str:
        """Grant it, for good or for this conversation; return a sentence if it cannot be kept."""
        trouble = ""
        self.outside_content.allowed(grant.added.hosts, any_host=grant.added.network)
        self.declined_hosts.difference_update(grant.added.hosts)
        if lasting and self._standing:
            trouble = await self._standing.keep(grant.added)
            if not trouble:
                return ""
        self._own = self._own.joined(grant.added)
        return trouble

    def warnings_about(self, place: Path) -> tuple[str, ...]:
        """What a person should know who opens a place to code. Raises GrantError where a rule of
        theirs forbids it.
        """
        if rule := self._policy.forbids_path(str(place)):
            raise GrantError(f'{place} is not granted: the rule "{rule}" forbids it.')
        judged = self._policy.judge("shell", f"cat {shlex.quote(str(place))}")
        found = [f"{place}: {warning}" for warning in judged.warnings]
        if Path.home().is_relative_to(place):
            found.append("Your whole home folder is in it, with keys and passwords.")
        return tuple(found)

    def _weighed(self, path: str, access: Literal["read", "write"]) -> Folder:
        place = folder(personal(path), access)
        self.warnings_about(place.path)
        return place

    def _warnings(self, added: Grants) -> tuple[str, ...]:
        found = [text for each in added.folders for text in self.warnings_about(each.path)]
        if added.network:
            found.append("Code could send what it reads to anyone.")
        if (added.hosts or added.network) and (why := self.outside_content.why):
            found.append(why)
        return tuple(found)


def _known(wanted: str) -> Mode:
    """The mode of this name. Raises ModeError: a slip must not let anything run unasked."""
    name = wanted.strip().lower().replace("_", "-").replace("readonly", "read-only")
    if name not in MODES:
        raise ModeError(f"There is no mode {wanted[:40]}; there are {', '.join(MODES)}.")
    return name

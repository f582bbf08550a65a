"""What stand-ins for a workshop share: nothing was granted, and nothing went over the network."""

from collections.abc import Mapping, Sequence

from sayso.server.runtimes.network.proxy import Passage
from sayso.server.runtimes.reach import Reach


class Ungranted:
    """Takes any reach, and has no variables to lose."""

    aliases: Mapping[str, str] = {}
    reach = Reach()

    async def set_reach(self, reach: Reach) -> bool:
        self.reach = reach
        return False

    def take_passages(self) -> Sequence[Passage]:
        return ()

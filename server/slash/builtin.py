"""The commands that there are, in the order of a list."""

from sayso.server.slash.conversations import CONVERSING
from sayso.server.slash.cost import SPENDING
from sayso.server.slash.export import EXPORTING
from sayso.server.slash.folder import PLACING
from sayso.server.slash.forget import FORGETTING
from sayso.server.slash.jobs import JOBS
from sayso.server.slash.model import CHOOSING
from sayso.server.slash.os_mode import OPERATING
from sayso.server.slash.past import LOOKING_BACK
from sayso.server.slash.permissions import DECIDING
from sayso.server.slash.undo import UNDOING

SHIPPED = (
    *UNDOING,
    *CHOOSING,
    *DECIDING,
    *PLACING,
    *JOBS,
    *SPENDING,
    *OPERATING,
    *EXPORTING,
    *CONVERSING,
    *LOOKING_BACK,
    *FORGETTING,
)

"""The commands that there are, in the order of a list."""

from sayso.server.slash.choosing import CHOOSING
from sayso.server.slash.conversing import CONVERSING
from sayso.server.slash.deciding import DECIDING
from sayso.server.slash.exporting import EXPORTING
from sayso.server.slash.forgetting import FORGETTING
from sayso.server.slash.placing import PLACING
from sayso.server.slash.spending import SPENDING
from sayso.server.slash.undoing import UNDOING

SHIPPED = (
    *UNDOING,
    *CHOOSING,
    *DECIDING,
    *PLACING,
    *SPENDING,
    *EXPORTING,
    *CONVERSING,
    *FORGETTING,
)

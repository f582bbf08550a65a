"""Reads the fields of a form that was sent with a file. Pure, and in one pass over the body."""

import re
from typing import Final

from sayso.server.adapters.openai.errors import BadRequest

MOST_FIELDS: Final = 32
"""The API knows a dozen."""
HEAD_BYTES: Final = 2_048
"""Longest head of a field: its name, and that of a file."""

_BOUNDARY: Final = re.compile(r'boundary="?([A-Za-z0-9\'()+_,./:=? -]{1,70})"?', re.ASCII)
_NAME: Final = re.compile(rb'\bname="([A-Za-z0-9_.\[\]-]{1,64})"', re.ASCII)


def read_form(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields by their names; the first counts where one stands twice. Raises BadRequest."""
    kind, _, options = content_type.partition(";")
    found = _BOUNDARY.search(options)
    if kind.strip().lower() != "multipart/form-data" or not found:
        raise BadRequest("A recording is sent as multipart/form-data, with the field `file`.")
    parts = (b"\r\n" + body).split(b"\r\n--" + found[1].rstrip().encode(), MOST_FIELDS + 2)
    if len(parts) > MOST_FIELDS + 2 or not parts[-1].startswith(b"--"):
        raise BadRequest("The form is not whole, or has too many fields.")
    fields: dict[str, bytes] = {}
    for part in parts[1:-1]:
        head, gap, content = part.partition(b"\r\n\r\n")
        name = _NAME.search(head[:HEAD_BYTES])
        if not gap or not name:
            raise BadRequest("A field of the form has no name.")
        fields.setdefault(name[1].decode(), content)
    return fields

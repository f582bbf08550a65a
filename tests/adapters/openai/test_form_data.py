"""Forms with a recording, as programs send them and as nobody should."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.adapters.openai.errors import BadRequest
from sayso.server.adapters.openai.form_data import MOST_FIELDS, read_form

KIND = "multipart/form-data; boundary=edge"


def form(*fields: tuple[str, bytes]) -> bytes:
    parts = [
        b'--edge\r\nContent-Disposition: form-data; name="' + name.encode() + b'"\r\n\r\n' + value
        for name, value in fields
    ]
    return b"\r\n".join([*parts, b"--edge--\r\n"])


def test_fields_are_read_byte_for_byte() -> None:
    body = form(("model", b"sayso"), ("file", b"\r\n--edg\x00\r\n\r\nRIFF"))
    assert read_form(KIND, body) == {"model": b"sayso", "file": b"\r\n--edg\x00\r\n\r\nRIFF"}


def test_the_first_of_two_fields_counts() -> None:
    assert read_form(KIND, form(("file", b"one"), ("file", b"two"))) == {"file": b"one"}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", form(("file", b"x"))),
        (KIND, b""),
        (KIND, form(("file", b"x"))[:-4]),
        (KIND, b"--edge\r\nname=file\r\n\r\nx\r\n--edge--"),
        (KIND, form(*[("file", b"x")] * (MOST_FIELDS + 1))),
    ],
)
def test_what_is_no_whole_form_is_told(kind: str, body: bytes) -> None:
    with pytest.raises(BadRequest):
        read_form(kind, body)


@given(st.binary(max_size=2_000), st.text(max_size=100))
def test_any_bytes_are_read_or_refused(body: bytes, kind: str) -> None:
    for content_type in (KIND, kind):
        with suppress(BadRequest):
            assert isinstance(read_form(content_type, body), dict)

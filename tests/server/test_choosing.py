"""What a screen shows to choose from: a person's own conversations with their past."""

from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.choosing import Choices
from tests.server.household import household


async def test_conversations_are_listed_with_their_past_to_their_own_person(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), house.conversations)
        desk = await house.device()
        await desk.ask("how high is the Eiffel tower")
        await desk.command("new", "Garden")

        listed = await choices.look("/conversations", "")
        assert listed
        assert [one["called"] for one in listed["conversations"]] == [
            "Garden",
            "how high is the Eiffel tower",
        ]
        past = await choices.look("/conversations/main", "")
        assert past
        assert past["turns"][0]["said"] == "how high is the Eiffel tower"
        assert past["turns"][0]["reply"] == "1: how high is the Eiffel tower"
        assert past["mode"] == "ask"
        assert past["model"]
        for foreign in ("/conversations/main", "/conversations/none", "/conversations/", "/other"):
            assert await choices.look(foreign, "somebody else") is None
        assert await choices.look("/conversations", "somebody else") == {"conversations": []}


async def test_voices_models_and_modes_are_listed(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), house.conversations)
        there = await choices.look("/choices", "")
        assert there
        assert {"name": "en_US-joe-medium", "language": "en"} in there["voices"]
        assert set(there["modes"]) == {"read-only", "ask", "workspace", "full"}

"""What begins or sounds like a reflex in English, and is for the language model."""

import pytest

from sayso.server.reflexes.matching import Reflexes


@pytest.fixture(scope="module")
def reflexes() -> Reflexes:
    return Reflexes.load("en")


LOOK_ALIKES = (
    "",
    "   ",
    "?!",
    "um",
    "please",
    "Stop the docker container.",
    "Can you stop the server and start it again?",
    "Stop by the store and buy milk.",
    "How do I stop a running process?",
    "Don't stop believing.",
    "Cancel my subscription.",
    "Cancel the last two commits.",
    "Never mind the weather, what about tomorrow?",
    "Yes, but use the other folder.",
    "Yes and also delete the backup.",
    "Yes or no?",
    "Yeah, right.",
    "Okay, but first show me the code.",
    "Do it in Python.",
    "And do that.",
    "Can you do it?",
    "Could you run it, please.",
    "I want you to proceed.",
    "Yes?",
    "Okay?",
    "Go ahead?",
    "Go ahead and delete everything.",
    "Sure, what else?",
    "No, use the other one.",
    "No wait.",
    "No idea.",
    "Know.",
    "Say that again in French.",
    "Repeat after me.",
    "Say hello.",
    "What did you say about the weather?",
    "Slow down the animation.",
    "Run it faster than last time.",
    "What time is it going to rain?",
    "What time does the train leave?",
    "What's the time complexity of quicksort?",
    "What day was the battle of Hastings?",
    "Set a timer for ten minutes and turn off the lights.",
    "Write a timer for ten minutes in Python.",
    "Set a timer for zero minutes.",
    "Remind me what you said.",
    "Remind me how to cook rice.",
    "Remind me to call Mum later.",
    "Remind me to call Mum next Friday at nine.",
    "Remind me to call Mum when I get home at seven.",
    "Remind me to call Mum tomorrow or on Friday at nine.",
    "Remind me tomorrow at midnight to call Mum.",
    "Remind me today to call Mum.",
    "Remind me at 770 to call Mum.",
    "Remind Anna to call Mum at seven.",
    "In ten minutes turn off the lights.",
    "List my files.",
    "And do that.",
    "What is the capital of France?",
    "What is 100 plus 10 percent?",
    "Remind me every month to pay the rent.",
    "What are my options?",
    "How much time is left in the project?",
    "Cancel the meeting with Anna.",
    "Delete all my files.",
    "Undo the last commit.",
    "And do that again tomorrow.",
    "Undo the changes in main.py.",
    "Take that to the kitchen.",
    "Put it back on the shelf.",
    "Stop " * 100,
)


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_reflex_is_left_to_the_language_model(
    reflexes: Reflexes, text: str
) -> None:
    assert reflexes.match(text) is None

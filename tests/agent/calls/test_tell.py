"""`sayso.tell`: code shows how far it is."""

from sayso.server.agent.events import RunOutput
from tests.agent.conftest import House
from tests.scripted_model import runs, says


def shown(house: House) -> list[str]:
    """The lines that people see and the model does not."""
    return [each.output.text for each in house.told(RunOutput) if each.output.kind == "display"]


async def told_by(house: House, code: str) -> list[str]:
    agent = await house.agent(runs(code), says("Done."), mode="workspace")
    await house.ask(agent, "go")
    return shown(house)


async def test_a_line_of_progress_is_shown_as_the_codes_words_and_not_told_to_the_model(
    house: House,
) -> None:
    lines = await told_by(house, "import sayso\nsayso.tell('half way', fraction=0.5)\nprint(1)")
    assert lines == ["The code says: half way (50%)\n"]
    assert "half way" not in str(house.sent()[-1]["content"])


async def test_what_it_says_is_one_short_line_that_hides_nothing(house: House) -> None:
    code = r"sayso.tell('a\n\n\x1b[2J\u202eb' + 'c' * 100_000, fraction=1e300)"
    (line,) = await told_by(house, code)
    assert line.startswith("The code says: a <U+001B>[2J<U+202E>bccc")
    assert line.endswith(" (100%)\n")
    assert len(line) < 250


async def test_a_thousand_lines_show_as_few_as_can_be_read(house: House) -> None:
    lines = await told_by(house, "for n in range(1_000): sayso.tell(n)")
    assert 1 <= len(lines) < 100


async def test_arguments_that_are_none_are_refused(house: House) -> None:
    code = """
more = {'text': 'a', 'run': 'b'}
for wrong in ({'text': 1}, {'text': 'a', 'fraction': 'x'}, more, {'fraction': True}):
    try:
        sayso.call('tell', **wrong)
        print('taken', wrong)
    except sayso.Refused as refusal:
        print(refusal)
"""
    assert not await told_by(house, code)
    assert "taken" not in house.output
    assert "text must be text." in house.output

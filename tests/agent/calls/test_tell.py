"""`sayso.tell`: code shows how far it is."""

from sayso.server.agent.events import CodeOut
from sayso.server.agent.jobs.job import Job
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says


async def told_by(rig: AgentRig, code: str) -> list[Job]:
    """How the jobs stood, one after the other."""
    agent = await rig.agent(runs(code), says("Done."), mode="workspace")
    jobs: list[Job] = []
    agent.jobs.watch(jobs.append)
    await rig.ask(agent, "go")
    return jobs


async def test_progress_is_a_job_and_no_output_for_the_model(rig: AgentRig) -> None:
    jobs = await told_by(rig, "import sayso\nsayso.tell('half way', fraction=0.5)\nprint(1)")
    assert (jobs[0].text, jobs[0].fraction, jobs[0].state) == ("half way", 0.5, "running")
    assert jobs[-1].state == "done"
    assert "half way" not in str(rig.sent()[-1]["content"])
    assert [each.output.text for each in rig.told(CodeOut)] == ["1\n"]


async def test_what_it_says_is_one_short_line_that_hides_nothing(rig: AgentRig) -> None:
    code = r"sayso.tell('a\n\n\x1b[2J\u202eb' + 'c' * 100_000, fraction=1e300)"
    job = (await told_by(rig, code))[0]
    assert job.text.startswith("a <U+001B>[2J<U+202E>bccc")
    assert len(job.text) <= 200
    assert job.fraction == 1.0


async def test_arguments_that_are_none_are_refused(rig: AgentRig) -> None:
    code = """
more = {'text': 'a', 'run': 'b'}
for wrong in ({'text': 1}, {'text': 'a', 'fraction': 'x'}, more, {'fraction': True}):
    try:
        sayso.call('tell', **wrong)
        print('taken', wrong)
    except sayso.Refused as refusal:
        print(refusal)
"""
    assert not await told_by(rig, code)
    assert "taken" not in rig.output
    assert "text must be text." in rig.output

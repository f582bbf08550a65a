"""How far work is: steps, times, tests, files and money, from what was noted."""

import pytest

from sayso.server.agent.record.test_results import TestResult, read_test_result
from sayso.server.agent.record.work_status import WorkProgress
from sayso.server.store.changes import Changes
from sayso.server.store.jobs import JobBegan, JobDetached, JobProgressed
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    Interrupted,
    RunIntended,
    RunReported,
)


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ("==== 2 failed, 10 passed, 1 skipped in 3.21s ====", TestResult(10, 2, 1)),
        ("3 passed in 0.10s", TestResult(3, 0)),
        ("1 error in 0.10s", TestResult(0, 1)),
        ("Ran 5 tests in 0.01s\n\nFAILED (failures=1, errors=1, skipped=1)", TestResult(2, 2, 1)),
        ("Ran 5 tests in 0.01s\n\nOK", TestResult(5, 0)),
        ("Tests:       1 failed, 7 passed, 8 total", TestResult(7, 1)),
        ("test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured", TestResult(4, 0, 1)),
        ("1 failed in 0.1s\n3 passed in 0.1s", TestResult(3, 0)),
        ("we passed 3 exams in 2 days", None),
        ("", None),
    ],
)
def test_results_are_read_as_runners_print_them(output: str, result: TestResult | None) -> None:
    assert read_test_result(output) == result


def test_it_tells_steps_times_tests_files_and_cost() -> None:
    progress = WorkProgress()
    assert not progress.status(0.0).ever
    progress.apply(Asked("fix it"), 100.0)
    progress.apply(Answered("", (Call("a", "bash", "x"),), tokens_in=90, usd=0.5), 102.0)
    progress.apply(RunIntended("a", "bash", "x"), 103.0)
    status = progress.status(113.0)
    assert (status.doing, status.steps, status.since_s, status.whole_s) == ("running", 1, 10, 13)
    changes = Changes(changed=("a.py", "b.py"), more=1)
    progress.apply(RunReported("a", "ok", output="2 passed in 1.0s", changes=changes), 120.0)
    progress.apply(RunReported("b", "ok", changes=Changes(changed=("a.py",))), 121.0)
    status = progress.status(125.0)
    assert (status.doing, status.since_s) == ("thinking", 5)
    assert status.tests == TestResult(2, 0)
    assert (status.files, status.tokens, status.usd) == (3, 90, 0.5)
    progress.apply(Interrupted(), 130.0)
    status = progress.status(900.0)
    assert (status.doing, status.whole_s) == ("nothing", 30)


def test_what_goes_on_in_the_background_is_no_work_of_the_request() -> None:
    progress = WorkProgress()
    progress.apply(Asked("train it in the background"), 100.0)
    progress.apply(RunIntended("a", "bash", "x"), 101.0)
    progress.apply(JobBegan("j", "run", "train it", run="a"), 103.0)
    progress.apply(JobDetached("j", "a"), 103.0)
    assert progress.status(104.0).doing == "thinking"
    progress.apply(Answered("It trains."), 105.0)
    progress.apply(RunReported("a", "ok", output="2 passed in 1.0s"), 200.0)
    status = progress.status(300.0)
    assert (status.doing, status.whole_s, status.tests) == ("nothing", 5, TestResult(2, 0))


def test_an_earlier_job_is_no_work_of_a_later_request() -> None:
    progress = WorkProgress()
    progress.apply(Asked("sort it"), 100.0)
    progress.apply(RunIntended("b", "bash", "x"), 101.0)
    progress.apply(JobBegan("k", "run", "sort it", run="b", fraction=0.5), 102.0)
    progress.apply(JobProgressed("j", "3/4", 0.75), 103.0)
    progress.apply(RunReported("a", "ok", output="2 passed in 1.0s"), 104.0)
    status = progress.status(105.0)
    assert (status.doing, status.run, status.tests) == ("running", "b", None)

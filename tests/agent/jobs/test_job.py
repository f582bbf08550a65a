"""A job runs until it ends, once, and what it tells stays short, whatever code says."""

import math

import pytest

from sayso.server.agent.jobs.job import (
    OUTPUT_CHARS,
    TEXT_CHARS,
    Job,
    JobIsOverError,
    JobState,
)

JOB = Job("j1", "run", "sort my pictures", "r1", 1)


def test_a_job_tells_how_far_it_is_and_keeps_the_fraction_that_it_told_last() -> None:
    job = JOB.progressed("half way", 0.5).progressed("nearly there", None)
    assert (job.text, job.fraction, job.state) == ("nearly there", 0.5, "running")


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "unknown"])
def test_a_job_that_is_over_tells_nothing_more(state: JobState) -> None:
    over = JOB.wrote("first").ended(state)
    assert (over.state, over.output) == (state, "first")
    with pytest.raises(JobIsOverError):
        over.progressed("still here", 0.9)
    with pytest.raises(JobIsOverError):
        over.wrote("more")
    with pytest.raises(JobIsOverError):
        over.ended("done")


@pytest.mark.parametrize(
    ("given", "told"),
    [(-1.0, 0.0), (7.0, 1.0), (math.inf, 1.0), (-math.inf, 0.0), (math.nan, None), (0.25, 0.25)],
)
def test_a_fraction_is_one_from_nought_to_one(given: float, told: float | None) -> None:
    assert JOB.progressed("", given).fraction == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("two\nlines\r\nof it", "two lines of it"),
        ("red \x1b[31m and up \x1b[A", "red <U+001B>[31m and up <U+001B>[A"),
        ("May I run this?\u202e oN", "May I run this?<U+202E> oN"),
        ("half a pair \ud800", "half a pair <U+D800>"),
    ],
)
def test_a_line_of_codes_steers_no_screen(given: str, told: str) -> None:
    assert JOB.progressed(given, None).text == told


def test_what_a_job_holds_is_bounded() -> None:
    job = JOB.progressed("x" * 10_000_000, None).wrote("y" * 10_000_000).wrote("end")
    assert len(job.text) == TEXT_CHARS
    assert len(job.output) == OUTPUT_CHARS
    assert job.output.endswith("end")

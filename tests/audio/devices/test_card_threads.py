"""Closing a card ends a thread that loops for ever; a thread that only waits is left alone."""

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sayso.audio.devices import card_threads
from sayso.audio.devices.card_threads import ThreadReaper
from tests.machine import needed

CARD = """
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_t thread;
static volatile int cleaned;
static long work, idle;
static void clean(void *unused) { cleaned = 1; }
static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static void *card(void *unused) {
    double over = now(CLOCK_MONOTONIC) + 6;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    pthread_cleanup_push(clean, 0);
    while (now(CLOCK_MONOTONIC) < over) {
        double worked = now(CLOCK_THREAD_CPUTIME_ID) + work / 1e3;
        while (now(CLOCK_THREAD_CPUTIME_ID) < worked);
        usleep(idle * 1000);
        write(2, "", 0);
    }
    pthread_cleanup_pop(0);
    return 0;
}
void open_card(int working, int idling) {
    work = working;
    idle = idling;
    pthread_create(&thread, 0, card, 0);
}
int close_card(void) { pthread_cancel(thread); pthread_join(thread, 0); return cleaned; }
"""
"""Its thread goes round for six seconds: so many milliseconds of work, so many of pause."""

CLOSES = """
import ctypes, sys, threading, time
from sayso.audio.devices.card_threads import ThreadReaper
closed, late = threading.Event(), time.monotonic() + 20
def count():
    while not closed.is_set() and time.monotonic() < late:
        pass
for _ in range(2):
    threading.Thread(target=count).start()
card, runaways = ctypes.CDLL(sys.argv[1]), ThreadReaper()
with runaways.born():
    card.open_card(int(sys.argv[2]), int(sys.argv[3]))
with runaways.ended():
    cleaned = card.close_card()
closed.set()
print(cleaned)
"""
"""While other threads keep Python busy."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
@pytest.mark.parametrize(
    ("work", "pause", "ended"),
    [
        pytest.param("20", "0", "1", id="in circles"),
        pytest.param("20", "80", "1", id="in circles, with a fifth of a processor"),
        pytest.param("0", "20", "0", id="waits"),
    ],
)
def test_a_cards_thread_is_ended_where_it_runs_in_circles_and_nowhere_else(
    work: str, pause: str, ended: str, tmp_path: Path
) -> None:
    source, library = tmp_path / "card.c", tmp_path / "card.so"
    source.write_text(CARD)
    compiler = needed("gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)

    closed = subprocess.run(
        [sys.executable, "-c", CLOSES, library, work, pause],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )

    assert (closed.returncode, closed.stdout.strip()) == (0, ended), closed.stderr


class Working(threading.Thread):
    """A thread of Python's own."""

    def run(self) -> None:
        while time.thread_time() < 0.3:
            pass


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_threads, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(card_threads, "BUSY_SECONDS", 0.02)
    card_threads._signalling.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
@pytest.mark.usefixtures("quick_looks")
def test_a_thread_of_python_that_starts_as_a_card_is_opened_is_not_taken_for_the_cards(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runaways, working, known = ThreadReaper(), Working(), threading.enumerate
    with monkeypatch.context() as starting, runaways.born():
        others = [each for each in known() if each is not working]
        starting.setattr(threading, "enumerate", lambda: others)
        working.start()
    with runaways.ended():
        working.join()
    assert caplog.messages == []


@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
@pytest.mark.usefixtures("quick_looks")
def test_a_c_library_that_cannot_end_a_thread_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(threading, "enumerate", list)
    monkeypatch.setattr("sayso.audio.devices.card_threads.ctypes.CDLL", lambda _: object())
    runaways, working = ThreadReaper(), Working()
    with caplog.at_level(logging.WARNING):
        with runaways.born():
            working.start()
        with runaways.ended():
            working.join()
    assert "this C library cannot end it" in caplog.text


def test_a_card_opens_and_closes_where_the_system_does_not_list_its_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_threads, "TASKS", tmp_path / "nowhere")
    runaways, done = ThreadReaper(), []
    with runaways.born():
        done.append("opened")
    with runaways.ended():
        done.append("closed")
    assert done == ["opened", "closed"]

"""Who closes a card whose thread runs in circles gets on; one that only waits is left alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine import needed

CARD = """
#include <pthread.h>
#include <unistd.h>
static pthread_t thread;
static volatile int cleaned, circles;
static void clean(void *unused) { cleaned = 1; }
static void *card(void *unused) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    pthread_cleanup_push(clean, 0);
    while (circles) write(2, "", 0);
    sleep(3);
    pthread_cleanup_pop(0);
    return 0;
}
void open_card(int in_circles) { circles = in_circles; pthread_create(&thread, 0, card, 0); }
int close_card(void) { pthread_cancel(thread); pthread_join(thread, 0); return cleaned; }
"""

CLOSES = """
import ctypes, sys
from sayso.audio.runaway import EndsRunaways
card, runaways = ctypes.CDLL(sys.argv[1]), EndsRunaways()
with runaways.born():
    card.open_card(int(sys.argv[2]))
with runaways.ended():
    print(card.close_card())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is Linux's")
@pytest.mark.parametrize(("in_circles", "ended"), [("1", "1"), ("0", "0")])
def test_a_cards_thread_is_ended_where_it_runs_in_circles_and_nowhere_else(
    in_circles: str, ended: str, tmp_path: Path
) -> None:
    source, library = tmp_path / "card.c", tmp_path / "card.so"
    source.write_text(CARD)
    compiler = needed("gcc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)

    closed = subprocess.run(
        [sys.executable, "-c", CLOSES, library, in_circles],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )

    assert (closed.returncode, closed.stdout.strip()) == (0, ended), closed.stderr

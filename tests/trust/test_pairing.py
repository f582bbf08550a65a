"""The pairing window: two minutes, one device, a few slips of the fingers."""

from sayso.server.trust.pairing import LONGEST_S, OPEN_S, TRIES, TRUSTING_S, Pairing, Window


def wrong(window: Window) -> str:
    return f"{(int(window.digits) + 1) % 1_000_000:06d}"


def test_a_code_is_worth_nothing_after_two_minutes() -> None:
    pairing = Pairing()
    window = pairing.open(10.0)
    assert pairing.show(wrong(window), 10.0 + OPEN_S - 0.001) == ("wrong", window)
    assert pairing.show(window.code, 10.0 + OPEN_S) == ("shut", None)
    assert pairing.show(window.digits, 10.0) == ("shut", None), "once over it stays over"


def test_the_long_code_and_the_digits_open_it_as_they_are_typed() -> None:
    pairing = Pairing()
    for typed in ("{0}", "{0:.3} {0[3]}{0[4]}{0[5]}", "{0:.3}-{0[3]}{0[4]}{0[5]}"):
        window = pairing.open(0.0)
        assert pairing.show(typed.format(window.digits), 1.0) == ("right", window)
    window = pairing.open(0.0)
    assert pairing.show(window.code, 1.0) == ("right", window)
    assert pairing.show(window.code, 1.0) == ("shut", None), "one device alone"


def test_the_last_wrong_try_shuts_it() -> None:
    pairing = Pairing()
    window = pairing.open(0.0)
    for _ in range(TRIES):
        assert pairing.show(wrong(window), 1.0) == ("wrong", window)
    assert pairing.show(window.digits, 1.0) == ("shut", None)


def test_another_window_shuts_the_one_before() -> None:
    pairing = Pairing()
    first = pairing.open(0.0)
    second = pairing.open(1.0)
    assert pairing.show(first.code, 2.0) == ("wrong", second)
    pairing.shut(first)
    assert pairing.show(second.code, 2.0) == ("right", second)


def test_who_looks_at_the_page_that_introduces_the_server_has_more_time_within_a_bound() -> None:
    pairing = Pairing()
    window = pairing.open(0.0)
    pairing.is_looked_at(window, 100.0)
    assert pairing.show(wrong(window), 100.0 + TRUSTING_S - 1) == ("wrong", window)
    for moment in range(300, int(LONGEST_S), 100):
        pairing.is_looked_at(window, float(moment))
    assert pairing.show(wrong(window), LONGEST_S - 1) == ("wrong", window)
    assert pairing.show(window.code, LONGEST_S) == ("shut", None)


def test_a_window_that_is_over_is_not_opened_by_a_look() -> None:
    pairing = Pairing()
    window = pairing.open(0.0)
    pairing.is_looked_at(window, OPEN_S)
    assert pairing.show(window.code, OPEN_S) == ("shut", None)

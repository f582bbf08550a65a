"""Reads the arguments of a call, which code wrote, one by one."""

from collections.abc import Collection, Mapping

from sayso.server.runtimes.calls.function import CallRefusedError


def only(arguments: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse a call with an argument of another name."""
    if wrong := sorted(arguments.keys() - set(known)):
        there = ", ".join(known)
        raise CallRefusedError(f"There is no argument {wrong[0][:40]}; there are: {there}.")


def text(arguments: Mapping[str, object], name: str) -> str:
    """An argument that must be text."""
    value = arguments.get(name, "")
    if not isinstance(value, str):
        raise CallRefusedError(f"{name} must be text.")
    return value


def number(arguments: Mapping[str, object], name: str) -> float | None:
    """An argument that must be a number, if it is there."""
    value = arguments.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CallRefusedError(f"{name} must be a number.")
    return float(value)


def texts(arguments: Mapping[str, object], name: str) -> tuple[str, ...]:
    """An argument that must be a list of texts, if it is there."""
    value = arguments.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise CallRefusedError(f"{name} must be a list of texts.")
    return tuple(value)

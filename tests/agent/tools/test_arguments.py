"""What an annotated function takes: offered as JSON schema, held against it, and given on."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.agent.tools.annotations import values_for
from sayso.server.agent.tools.function import Function, as_tools
from sayso.server.agent.tools.schema import Schema, check_schema, problems
from sayso.server.agent.tools.tool import ArgumentsError, canonical


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


@dataclass(frozen=True)
class Shape:
    name: str
    corners: tuple[Point, ...]
    colour: Colour = Colour.RED
    labels: dict[str, int] = field(default_factory=dict)


class Options(TypedDict):
    loud: bool
    times: NotRequired[int]


def draw(
    shape: Shape,
    how: Literal["solid", "dotted"],
    near: Annotated[list[str] | None, "Names of other shapes."] = None,
    options: Options | None = None,
    where: Path = Path("here"),
) -> None:
    """Draw it."""


FULL = """{
  "shape": {"name": "house", "corners": [{"x": 1}, {"x": 2.5, "y": 3}], "colour": "blue",
            "labels": {"floors": 2}},
  "how": "dotted", "near": ["tree"], "options": {"loud": true}, "where": "/tmp/a"
}"""


def test_nested_objects_lists_choices_and_optional_ones_are_offered() -> None:
    schema = Function(draw).schema
    check_schema(schema)
    assert schema["required"] == ["shape", "how"]
    shape = schema["properties"]["shape"]
    assert shape["required"] == ["name", "corners"]
    assert shape["properties"]["corners"]["items"]["properties"]["x"] == {"type": "number"}
    assert shape["properties"]["colour"] == {"enum": ["red", "blue"], "type": "string"}
    assert schema["properties"]["how"] == {"enum": ["solid", "dotted"], "type": "string"}
    near = schema["properties"]["near"]
    assert near["description"] == "Names of other shapes."
    assert near["anyOf"] == [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    assert schema["properties"]["options"]["anyOf"][0]["required"] == ["loud"]


def test_the_function_is_given_what_its_annotations_name() -> None:
    values = values_for(draw, Function(draw).read("draw", FULL))
    corners = (Point(1.0), Point(2.5, 3.0))
    assert values == {
        "shape": Shape("house", corners, Colour.BLUE, {"floors": 2}),
        "how": "dotted",
        "near": ["tree"],
        "options": {"loud": True},
        "where": Path("/tmp/a"),
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"how": "solid"}', "shape is missing: give it ({name: string, corners: list of"),
        ('{"shape": 3, "how": "solid"}', "shape must be an object, not 3."),
        ('{"shape": {"name": "a", "corners": [{"y": 1}]}, "how": "solid"}', "corners[0].x is miss"),
        ('{"shape": {"name": "a", "corners": []}, "how": "dashed"}', '"solid", "dotted", not dash'),
        ('{"shape": {"name": "a", "corners": []}, "how": "solid", "near": "tree"}', "near must be"),
        ('{"shape": {"name": "a", "corners": []}, "how": "solid", "now": 1}', "There is no now"),
        ("[1]", "The arguments must be an object"),
        ("{'shape'", "The arguments must be a JSON object"),
        ('{"shape": {"name": true, "corners": []}, "how": "solid"}', "name must be a string, not"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "nested deeper"),
    ],
)
def test_wrong_arguments_say_what_to_change(arguments: str, says: str) -> None:
    with pytest.raises(ArgumentsError) as problem:
        Function(draw).read("draw", arguments)
    assert says in str(problem.value)


def test_an_error_is_short_whatever_was_written() -> None:
    many = canonical({f"n{number}": "x" * 5_000 for number in range(500)})
    with pytest.raises(ArgumentsError) as problem:
        Function(draw).read("draw", many)
    assert len(str(problem.value)) < 1_000


def test_the_same_arguments_are_always_shown_the_same() -> None:
    tool = Function(draw)
    one = tool.read_call('{"how":"solid",\n "shape":{"corners":[],"name":"Zoë"}}')
    other = tool.read_call('{"shape": {"name": "Zo\\u00eb", "corners": []}, "how": "solid"}')
    assert one == other
    assert one is not None
    assert one.text == '{"how": "solid", "shape": {"corners": [], "name": "Zoë"}}'


def test_of_a_name_that_is_written_twice_what_is_shown_is_what_is_given() -> None:
    def note(text: str) -> None:
        """Write it down."""

    call = Function(note).read_call('{"text": "milk", "text": "poison"}')
    assert call is not None
    assert Function(note).read("note", call.text) == {"text": "poison"}
    assert "milk" not in call.text


def _with(annotation: object) -> Any:  # noqa: ANN401
    def function(x: object) -> None:
        """Something."""

    function.__annotations__["x"] = annotation
    return function


@dataclass
class Endless:
    more: "Endless"


@pytest.mark.parametrize(
    "annotation", [bytes, dict[int, str], tuple[int, str], complex, Endless, Literal[b"a"]]
)
def test_what_has_no_json_is_refused_when_the_tool_is_made(annotation: object) -> None:
    with pytest.raises(TypeError):
        Function(_with(annotation))


def test_arguments_that_have_no_name_of_their_own_are_refused() -> None:
    def any_of(*words: str) -> None: ...

    with pytest.raises(TypeError, match="name each argument"):
        Function(any_of)


def test_a_schema_that_is_not_checked_is_refused() -> None:
    unknown: list[object] = [
        {"type": "string", "pattern": "a+"},
        {"$ref": "#"},
        {"type": "text"},
        [],
    ]
    for schema in unknown:
        with pytest.raises(TypeError):
            check_schema(schema)
    deep: dict[str, Any] = {}
    for _ in range(50):
        deep = {"items": deep}
    with pytest.raises(TypeError, match="nest"):
        check_schema(deep)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 3}, 2, 4),
        ({"type": "string", "maxLength": 2}, "ab", "abc"),
        ({"type": "array", "minItems": 1}, [0], []),
        ({"type": ["string", "null"]}, None, 1),
        ({"const": 1}, 1, True),
        ({"type": "integer"}, 2.0, True),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": "1"}),
    ],
)
def test_a_schema_of_a_tools_own_holds(schema: Any, good: object, bad: object) -> None:  # noqa: ANN401
    check_schema(schema)
    assert problems(good, schema) == []
    assert len(problems(bad, schema)) == 1


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=20))
def test_no_value_gets_past_a_schema_by_breaking_the_check(value: object) -> None:
    def take(x: Optional[int], y: list[list[str]] = []) -> None: ...  # noqa: B006, UP045

    schema: Schema = Function(take).schema
    wrong = problems({"x": value}, schema)
    assert bool(wrong) != (value is None or (type(value) is int))


def test_two_tools_of_one_name_or_a_reserved_one_are_refused() -> None:
    def note() -> None: ...
    def access() -> None: ...

    with pytest.raises(TypeError, match="Two tools are called note"):
        as_tools([note, note])
    with pytest.raises(TypeError, match="can't be called access"):
        as_tools([access])

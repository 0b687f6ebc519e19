"""Enumerations of strings are those of the standard library, whatever their body."""

import copy
import enum
import inspect
import json
import pickle
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tejat.core.text.str_enum import StrEnum

Body = Callable[[Any], Any]
STANDARD: Any = enum.StrEnum
"""Type checkers take both for the same class."""

VALUES = ("a", "b", "", "B", "two words", "\N{SNOWMAN}")
NAMES = ("A", "B", "LONG_NAME", "lower", "_single", "title", "name", "value", "mro", "__private", "_sunder_")
LABEL = property(lambda _: 1)


class Colour(StrEnum):
    """The colour of a light."""

    RED = "red"
    GREEN = "green"
    ROUGE = "red"

    @property
    def initial(self) -> str:
        return self[0]

    @classmethod
    def _missing_(cls, value: object) -> "Colour | None":
        return cls.RED if value == "crimson" else None


def attempt(work: Callable[[], object]) -> object:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 -- the kind and the text are compared
        return type(error).__name__, str(error)


def described(cls: Any) -> dict[str, object]:
    """Everything that can be seen of an enumeration, without its identity."""
    probes = (*VALUES, *NAMES, None, 1, [])
    return {
        "attributes": {
            name: shown(getattr(cls, name)) for name in vars(cls) if not name.startswith("__") or name == "__doc__"
        },
        "names of attributes": sorted(vars(cls)),
        "dir": sorted(dir(cls)),
        "members": [(name, member.name) for name, member in cls.__members__.items()],
        "in order": [shown(each) for each in cls],
        "reversed": [shown(each) for each in reversed(cls)],
        "length": len(cls),
        "repr": repr(cls),
        "qualified name": (cls.__name__, cls.__qualname__, cls.__module__, cls.__doc__),
        "by value": [shown(attempt(lambda each=each: cls(each))) for each in probes],
        "by name": [shown(attempt(lambda each=each: cls[each])) for each in probes],
        "contains": [attempt(lambda each=each: each in cls) for each in probes] if sys.version_info >= (3, 12) else [],
        "signature": attempt(lambda: str(inspect.signature(cls))),
        "frozen members": [attempt(lambda each=each: setattr(cls, each, 1)) for each in cls.__members__],
        "kept members": [attempt(lambda each=each: delattr(cls, each)) for each in cls.__members__],
        "subclass": attempt(lambda: len(type(cls)("Below", (cls,), type(cls).__prepare__("Below", (cls,))))),
    }


def shown(thing: Any) -> object:
    """A member with all its contents, or the thing as it is compared."""
    if isinstance(thing, enum.Enum):
        contents = {name: value for name, value in vars(thing).items() if name != "__objclass__"}
        assert thing.__objclass__ is type(thing)  # type: ignore[attr-defined]
        texts = (repr(thing), str(thing), f"{thing}", f"{thing:>9}", json.dumps(thing), hash(thing) == hash(thing.name))
        return thing.name, thing.value, contents, texts, attempt(lambda: sorted(dir(thing))), thing == thing.value
    if isinstance(thing, Mapping):
        return [(key, shown(value)) for key, value in thing.items()]
    return thing if isinstance(thing, str | list | tuple | int | None) else type(thing).__name__


def compare(body: Body) -> Any:
    """Ours, after a comparison with the one of the standard library."""
    ours, theirs = attempt(lambda: body(StrEnum)), attempt(lambda: body(STANDARD))
    if isinstance(theirs, tuple):
        assert ours == theirs
        return None
    assert described(ours) == described(theirs)
    return ours


def is_made_here(cls: Any) -> bool:
    """Whether `EnumType` had no part in it: it would have replaced this function by the one of its own."""
    return isinstance(vars(cls)["__new__"], staticmethod)


names = st.sampled_from(NAMES)
steps = st.tuples(names, st.sampled_from([*VALUES, *VALUES, enum.auto, ("a",), 3, LABEL, len]))


def executed(base: Any, lines: list[tuple[str, Any]]) -> Any:
    """The class of a body that assigns these values in this order."""
    body = type(base).__prepare__("Made", (base,))
    body["__module__"], body["__qualname__"] = __name__, "Made"
    for name, value in lines:
        body[name] = enum.auto() if value is enum.auto else value
    return type(base)("Made", (base,), body)


class TestLikeTheStandardLibrary:
    @settings(max_examples=150, deadline=None)
    @given(st.lists(steps, max_size=6))
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_any_body(self, lines: list[tuple[str, Any]]) -> None:
        compare(lambda base: executed(base, lines))

    @settings(max_examples=100, deadline=None)
    @given(st.dictionaries(st.sampled_from(["A", "B", "C", "small", "LONG"]), st.sampled_from(VALUES), min_size=1))
    def test_plain_strings(self, members: dict[str, str]) -> None:
        made = compare(lambda base: executed(base, list(members.items())))
        assert is_made_here(made) == (sys.version_info < (3, 14))

    def test_methods_and_properties(self) -> None:
        def body(base: Any) -> Any:
            class Made(base):
                """With a docstring."""

                A = "a"
                B = A
                C = "c"

                @property
                def label(self) -> str:
                    return f"<{self.value}>"

                @staticmethod
                def default() -> Any:
                    return Made.C

                @classmethod
                def _missing_(cls, value: object) -> Any:
                    return cls.A if value == "\N{SNOWMAN}" else None

                def __str__(self) -> str:
                    return self.label

            return Made

        made = compare(body)
        assert (made.B is made.A, made.default() is made.C, made("\N{SNOWMAN}") is made.A) == (True, True, True)
        assert (str(made.C), made.C.label) == ("<c>", "<c>")

    def test_a_value_is_read_back_within_the_body(self) -> None:
        def body(base: Any) -> Any:
            class Made(base):
                A = enum.auto()
                B = f"{A}b"
                C = "c"
                D = f"{C}{B}"

            return Made

        assert [each.value for each in compare(body)] == ["a", "ab", "c", "cab"]

    def test_names_are_removed_from_the_body(self) -> None:
        def body(base: Any) -> Any:
            class Made(base):
                A = "a"
                for each in ("x", "y"):  # noqa: B007 -- its name is what counts
                    pass

            return Made

        compare(body)

    def test_special_methods_and_super(self) -> None:
        def body(base: Any) -> Any:
            class Made(base):
                A = "a"

                def __init__(self, value: str) -> None:
                    super().__init__()
                    self.twice = value * 2

                def __format__(self, spec: str) -> str:
                    return super().__format__(spec) + "!"

            return Made

        assert compare(body).A.twice == "aa"

    def test_ignored_names(self) -> None:
        def body(base: Any) -> Any:
            class Made(base):
                _ignore_ = "helper"
                helper = "no member"
                A = "a"

            return Made

        assert len(compare(body)) == 1

    def test_a_base_without_members(self) -> None:
        def body(base: Any) -> Any:
            class Labelled(base):
                def label(self) -> str:
                    return self.name.title()

            class Made(Labelled):
                A = "a"

            return Made

        assert compare(body).A.label() == "A"

    def test_functional_definitions(self) -> None:
        compare(lambda base: base("Made", "A B C", module=__name__))
        compare(lambda base: base("Made", {"A": "x", "B": "y", "C": "x"}, module=__name__))

    @pytest.mark.parametrize("again", ["b", "a", LABEL])
    def test_a_name_is_not_used_twice(self, again: Any) -> None:
        with pytest.raises(TypeError, match="'A' already defined as 'a'"):
            executed(StrEnum, [("A", "a"), ("A", again)])


class TestMembers:
    def test_are_members_of_the_standard_library(self) -> None:
        assert isinstance(Colour, enum.EnumType)
        assert issubclass(Colour, STANDARD)
        assert isinstance(Colour.RED, str)
        assert list(Colour) == [Colour.RED, Colour.GREEN]
        assert (Colour.ROUGE is Colour.RED, Colour("crimson") is Colour.RED) == (True, True)
        assert (Colour.RED.initial, Colour.RED == "red", {"red": 1}[Colour.RED]) == ("r", True, 1)
        with pytest.raises(ValueError, match="'blue' is not a valid Colour"):
            Colour("blue")

    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_are_pickled_and_copied(self, protocol: int) -> None:
        for each in Colour:
            assert pickle.loads(pickle.dumps(each, protocol)) is each
            assert copy.copy(each) is copy.deepcopy(each) is each

    def test_are_matched(self) -> None:
        def describe(text: str) -> str:
            match text:
                case Colour.RED:
                    return "stop"
                case Colour():
                    return "go"
                case _:
                    return "nothing"

        assert [describe(each) for each in ("red", Colour.GREEN, "blue")] == ["stop", "go", "nothing"]

    def test_are_read_by_pydantic(self) -> None:
        adapter = TypeAdapter(Colour)
        assert adapter.validate_python("green") is Colour.GREEN
        assert adapter.validate_json('"crimson"') is Colour.RED
        assert adapter.dump_json(Colour.RED) == b'"red"'
        assert adapter.json_schema()["enum"] == [each.value for each in Colour.__members__.values()]
        with pytest.raises(ValidationError):
            adapter.validate_python("blue")

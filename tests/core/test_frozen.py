"""Values are what frozen dataclasses with slots are, whatever fields they have."""

import copy
import dataclasses
import inspect
import pickle
import pydoc
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.public_values import comparable, instances, value_classes
from tejat.core.frozen import Frozen, FrozenType, Value, field, fields_of, is_frozen, replace

NAMES = ("a", "b", "c", "cls", "type", "_own")
NOTHING = object()
MANY = 40
"""Of values that many are made of another constructor makes the later ones."""


class FieldInfo(NamedTuple):
    """One field as a class tells it."""

    name: str
    default: object = NOTHING
    factory: Callable[[], object] | None = None
    init: bool = True
    repr: bool = True
    compare: bool = True

    @property
    def is_needed(self) -> bool:
        return self.init and self.default is NOTHING and self.factory is None


def namespace_of(told: Sequence[FieldInfo], tell: Any) -> dict[str, object]:
    """The body of a class with these fields, as if it were written down."""
    namespace: dict[str, object] = {"__annotations__": {each.name: "object" for each in told}, "__module__": __name__}
    for each in told:
        if each.factory is not None:
            how = {"default_factory": each.factory}
        else:
            how = {} if each.default is NOTHING else {"default": each.default}
        if each.init and each.repr and each.compare and each.factory is None:
            namespace |= {each.name: how["default"]} if how else {}
        else:
            namespace[each.name] = tell(**how, init=each.init, repr=each.repr, compare=each.compare)
    return namespace


def twins(told: Sequence[FieldInfo], child: Sequence[FieldInfo] = ()) -> tuple[type, type]:
    """The same class as a value and as a dataclass; that of the child if it has fields of its own."""
    as_dataclass = dataclasses.dataclass(frozen=True, slots=True)
    ours = FrozenType("Made", (Frozen,), namespace_of(told, field))
    theirs = as_dataclass(type("Made", (), namespace_of(told, dataclasses.field)))
    if not child:
        return ours, theirs
    below = type("Child", (theirs,), namespace_of(child, dataclasses.field))
    return FrozenType("Child", (ours,), namespace_of(child, field)), as_dataclass(below)


contents = st.integers(0, 3) | st.sampled_from(["", "text", None, (1, "a"), 2.5]) | st.builds(list, st.just([1]))


@st.composite
def fields(draw: st.DrawFn, *, needed: bool) -> FieldInfo:
    told = FieldInfo("", repr=draw(st.booleans()), compare=draw(st.integers(0, 3)) > 0)
    if needed:
        return told
    if draw(st.booleans()):
        return told._replace(factory=draw(st.sampled_from([list, dict, int, str])), init=draw(st.booleans()))
    default = draw(st.integers(0, 3) | st.sampled_from(["", None, (1,)]))
    return told._replace(default=default, init=draw(st.integers(0, 2)) > 0)


@st.composite
def field_lists(draw: st.DrawFn, names: Sequence[str] = NAMES) -> list[FieldInfo]:
    """Fields that may stand in this order: those without a default come first."""
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names)))
    needed = draw(st.integers(0, len(chosen)))
    return [draw(fields(needed=index < needed))._replace(name=name) for index, name in enumerate(chosen)]


@st.composite
def families(draw: st.DrawFn) -> tuple[list[FieldInfo], list[FieldInfo]]:
    """A class, and fields of one below it: some new ones, some of the same names, in an order that can be."""
    parent = draw(field_lists())
    needed = {each.name for each in parent if each.is_needed}
    names = [name for name in (*NAMES, "new", "newer") if name not in needed]
    return parent, [each._replace(default=1, factory=None) for each in draw(field_lists(names))]


@st.composite
def arguments(draw: st.DrawFn, told: Sequence[FieldInfo]) -> tuple[list[object], dict[str, object]]:
    """Mostly what the constructor takes, sometimes too little or too much."""
    names = [each.name for each in told if each.init]
    by_place = draw(st.integers(0, len(names)))
    named = [name for name in names[by_place:] if draw(st.integers(0, 5))]
    if not draw(st.integers(0, 9)):
        named.append(draw(st.sampled_from(["unheard_of", *NAMES])))
    return [draw(contents) for _ in range(by_place)], {name: draw(contents) for name in named}


def attempt(work: Callable[[], object]) -> object:
    """What came of it, or what kind of error it is."""
    try:
        return work()
    except (TypeError, AttributeError) as error:
        return "AttributeError" if isinstance(error, AttributeError) else "TypeError"


def construct(cls: type, by_place: Sequence[object], by_name: Mapping[str, object]) -> object:
    return attempt(lambda: cls(*copy.deepcopy(by_place), **copy.deepcopy(by_name)))


def all_fields(parent: Sequence[FieldInfo], child: Sequence[FieldInfo]) -> list[FieldInfo]:
    return list(({each.name: each for each in parent} | {each.name: each for each in child}).values())


class TestLikeDataclasses:
    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def test_of_any_fields(self, data: st.DataObject) -> None:
        parent, child = data.draw(st.tuples(field_lists(), st.just([])) | families())
        ours, theirs = twins(parent, child)
        told = all_fields(parent, child)
        assert ours.__match_args__ == theirs.__match_args__
        assert [each.name for each in fields_of(ours)] == [each.name for each in dataclasses.fields(theirs)]
        pairs: list[tuple[Any, Any]] = []
        for _ in range(data.draw(st.sampled_from([0, MANY]))):
            construct(ours, [1] * len(ours.__match_args__), {})
        for _ in range(3):
            by_place, by_name = data.draw(arguments(told))
            mine, other = (construct(cls, by_place, by_name) for cls in (ours, theirs))
            if isinstance(other, str):
                assert mine == other
                continue
            pairs.append((mine, other))
        for mine, other in pairs:
            self.check_one(mine, other, told)
            self.check_change(mine, other, data.draw(arguments(told))[1])
        assert [[one == two for two, _ in pairs] for one, _ in pairs] == [
            [one == two for _, two in pairs] for _, one in pairs
        ]

    def check_one(self, mine: Any, other: Any, told: Sequence[FieldInfo]) -> None:
        assert contents_of(mine, told) == contents_of(other, told)
        assert repr(mine) == repr(other)
        assert attempt(lambda: hash(mine)) == attempt(lambda: hash(other))
        assert mine != other
        assert mine.__eq__(1) is NotImplemented
        for copied in (copy.copy(mine), copy.deepcopy(mine)):
            assert type(copied) is type(mine)
            assert contents_of(copied, told) == contents_of(mine, told)
        for each in (*told, FieldInfo("unheard_of")):
            with pytest.raises(AttributeError, match=each.name):
                setattr(mine, each.name, 1)
            with pytest.raises(AttributeError, match=each.name):
                delattr(mine, each.name)
        assert not hasattr(mine, "__dict__")
        assert contents_of(mine, told) == contents_of(other, told)

    def check_change(self, mine: Any, other: Any, changes: Mapping[str, object]) -> None:
        changes = {name: new for name, new in changes.items() if name in type(other).__match_args__}
        assert repr(replace(mine, **changes)) == repr(dataclasses.replace(other, **changes))


def contents_of(thing: object, told: Sequence[FieldInfo]) -> dict[str, object]:
    return {each.name: getattr(thing, each.name) for each in told}


class Point(Frozen):
    """A place."""

    x: int
    y: int = 0

    kinds: ClassVar[list[str]] = ["place"]

    @property
    def total(self) -> int:
        return self.x + self.y


class Marked(Point):
    """A place with a name and a default for what had none."""

    x: int = 7
    name: str = field(default="here", compare=False)
    tags: dict[str, int] = field(default_factory=dict[str, int], repr=False)


class Plain(Marked):
    """A value without fields of its own."""


class Loud:
    """Not a value."""

    __slots__ = ()


class Mixed(Loud, Marked):
    """A value whose first base is not a value."""


Kept = TypeVar("Kept")


class Box(Frozen, Generic[Kept]):
    kept: Kept


class Thing(Frozen, eq=False):
    name: str
    size: int = 1

    @property
    def shown(self) -> str:
        return f"{self.name} {self.size}"


class Outer:
    class Inner(Frozen):
        x: int


class TestWritten:
    def test_says_what_it_is(self) -> None:
        assert (repr(Point(1)), repr(Marked(name="there")), repr(Outer.Inner(1))) == (
            "Point(x=1, y=0)",
            "Marked(x=7, y=0, name='there')",
            "Outer.Inner(x=1)",
        )
        assert (Point.__doc__, Point.__module__, Point.kinds) == ("A place.", __name__, ["place"])

    def test_compares_by_its_fields_within_its_class(self) -> None:
        assert Point(1, 2) == Point(1, y=2)
        assert hash(Point(1, 2)) == hash(Point(x=1, y=2))
        assert Point(1, 2) != Point(2, 1)
        assert Point(7) != Marked(7)
        assert Marked(name="a") == Marked(name="b")
        assert len({Point(1), Point(1), Point(2)}) == 2

    def test_is_matched_by_place_and_by_name(self) -> None:
        def describe(thing: object) -> str:
            match thing:
                case Marked(x, 5, name=name):
                    return f"{x} {name}"
                case Point(x, y):
                    return f"{x} {y}"
                case _:
                    return "nothing"

        assert [describe(thing) for thing in (Marked(1, 5, "m"), Marked(1, 6), Point(3, 4), 5)] == [
            "1 m",
            "1 6",
            "3 4",
            "nothing",
        ]

    def test_what_a_factory_makes_is_new_each_time(self) -> None:
        one, two = Marked(), Marked()
        assert (one.tags, two.tags) == ({}, {})
        assert one.tags is not two.tags
        given = {"a": 1}
        assert Marked(tags=given).tags is given

    def test_keeps_methods_and_takes_part_in_inheritance(self) -> None:
        assert (Point(1, 2).total, Marked(y=3).total) == (3, 10)
        assert isinstance(Marked(), Point)
        assert (is_frozen(Marked), is_frozen(Plain), is_frozen(Value), is_frozen(int)) == (True, True, False, False)

    def test_a_class_without_fields_of_its_own_has_those_of_its_base(self) -> None:
        plain = Plain(1, name="p")
        assert (plain.x, plain.name, plain.total, repr(plain)) == (1, "p", 1, "Plain(x=1, y=0, name='p')")
        assert plain == Plain(1)
        assert plain != Marked(1)
        assert replace(plain, y=4) == Plain(1, 4)
        assert repr(Mixed(1)) == "Mixed(x=1, y=0, name='here')"
        assert not hasattr(plain, "__dict__")

    def test_the_first_instance_may_be_one_of_a_class_below(self) -> None:
        class Base(Frozen):
            x: int

        class Below(Base):
            pass

        assert (Below(1).x, Base(2).x) == (1, 2)
        with pytest.raises(TypeError, match=r"Base\.__init__"):
            Base()  # pyright: ignore[reportCallIssue]

    def test_the_first_instance_may_have_another_base_before(self) -> None:
        class Named:
            __slots__ = ()

        class Base(Frozen):
            x: int

        class Below(Named, Base):
            pass

        assert Below(1).x == 1

    def test_may_be_generic(self) -> None:
        assert Box[int](3) == Box(3)
        assert repr(Box("a")) == "Box(kept='a')"

    def test_what_a_class_says_itself_stays(self) -> None:
        class Own(Frozen):  # noqa: PLW1641 -- that is the question
            x: int
            seen: list[int] = field(default_factory=list[int], compare=False)

            def __post_init__(self) -> None:
                self.seen.append(self.x)

            def __eq__(self, other: object) -> bool:
                return isinstance(other, Own)

            def __repr__(self) -> str:
                return "LOUD"

        assert Own(1).seen == [1]
        assert (Own(1) == Own(2), repr(Own(1))) == (True, "LOUD")
        assert hash(Own(1)) == hash((1,))

    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("thing", [Point(1, 2), Marked(3, tags={"a": 1}), Box([1]), Outer.Inner(4)])
    def test_is_pickled(self, thing: object, protocol: int) -> None:
        assert pickle.loads(pickle.dumps(thing, protocol)) == thing

    def test_a_copy_is_deep_where_it_is_asked_for(self) -> None:
        box = Box([1])
        assert copy.copy(box).kept is box.kept
        assert copy.deepcopy(box).kept is not box.kept
        assert copy.deepcopy(box) == box

    def test_no_change_to_what_is_not_a_field_is_made(self) -> None:
        with pytest.raises(TypeError, match="unheard_of"):
            replace(Point(1), unheard_of=1)

    def test_a_field_that_is_not_given_is_not_replaced(self) -> None:
        class Kind(Frozen):
            x: int
            type: str = field(default="kind", init=False)

        assert replace(Kind(1), x=2) == Kind(2)
        assert Kind.__match_args__ == ("x",)
        with pytest.raises(TypeError, match="type"):
            replace(Kind(1), type="other")

    def test_its_constructor_is_shown_before_and_after_it_is_compiled(self) -> None:
        class Shown(Frozen):
            x: int
            name: str = "here"
            tags: list[str] = field(default_factory=list[str])
            kind: str = field(default="kind", init=False)

        before = str(inspect.signature(Shown))
        for _ in range(MANY):
            Shown(1)
        assert before == str(inspect.signature(Shown)) == "(x: int, name: str = 'here', tags: list[str] = Ellipsis)"
        assert "x: int" in pydoc.render_doc(Shown)
        assert inspect.signature(Value) is not None

    def test_a_base_has_no_positional_patterns(self) -> None:
        assert (Frozen.__match_args__, Value.__match_args__) == ((), ())


class TestIdentity:
    def test_is_equal_to_itself_alone(self) -> None:
        thing, other = Thing("a"), Thing("a")
        assert thing == thing
        assert thing != other
        assert len({thing, other}) == 2

    def test_is_frozen_has_slots_and_is_told_by_its_fields(self) -> None:
        thing = Thing("a", 2)
        assert (repr(thing), thing.shown) == ("Thing(name='a', size=2)", "a 2")
        with pytest.raises(AttributeError, match="Thing is frozen: size cannot be changed"):
            thing.size = 3  # pyright: ignore[reportAttributeAccessIssue] -- that is the question
        assert not hasattr(thing, "__dict__")

    def test_can_be_referred_to_weakly(self) -> None:
        thing = Thing("a")
        referred = weakref.ref(thing)
        assert referred() is thing
        del thing
        assert referred() is None

    def test_a_value_cannot(self) -> None:
        with pytest.raises(TypeError):
            weakref.ref(Point(1))

    def test_a_changed_one_is_another(self) -> None:
        thing = Thing("a")
        changed = replace(thing, size=5)
        assert (changed.name, changed.size, changed == thing) == ("a", 5, False)


class Report(Value):
    title: str
    body: str = ""
    tags: Sequence[str] = ()
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    secret: str = field(default="", repr=False)
    handle: object = field(default=None, repr=False, compare=False, is_local=True)


class TestValue:
    @pytest.mark.parametrize("cls", value_classes(), ids=lambda cls: cls.__name__)
    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_every_public_value_is_pickled_and_copied(self, cls: type[Value], data: st.DataObject) -> None:
        value = data.draw(instances(cls))
        for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
            assert comparable(copied) == comparable(value)

    def test_a_local_field_is_in_no_pickle(self) -> None:
        report = Report("a", handle=lambda: 1)
        assert pickle.loads(pickle.dumps(report)) == report
        assert pickle.loads(pickle.dumps(report)).handle is None

    def test_a_read_only_mapping_is_pickled_as_a_dict(self) -> None:
        report = Report("a", options=MappingProxyType({"b": 1}))
        assert pickle.loads(pickle.dumps(report)).options == {"b": 1}

    def test_defaults_and_secrets_are_not_shown(self) -> None:
        assert repr(Report("a", secret="key")) == "Report(title='a')"
        assert (
            repr(Report("a", tags=("b",), options={"c": None})) == "Report(title='a', tags=('b',), options={'c': None})"
        )

    def test_long_contents_are_cut(self) -> None:
        long = Report("t" * 500, tags=["tag"] * 100, options={"text": "x" * 300} | dict.fromkeys("abcdefghij"))
        shown = repr(long)
        assert f"title='{'t' * 160}'... (500 characters)" in shown
        assert "'tag', ... 92 more]" in shown
        assert f"'text': '{'x' * 160}'... (300 characters)" in shown
        assert "... 3 more}" in shown
        assert len(shown) < 700

    def test_an_equal_value_of_another_type_is_shown(self) -> None:
        assert repr(Report("a", tags=[])) == "Report(title='a', tags=[])"

    def test_the_repr_of_other_classes_is_whole(self) -> None:
        """Some are hashed by it."""
        assert repr(Point(1)) == "Point(x=1, y=0)"
        assert len(repr(Box("x" * 1000))) > 1000

    def test_users_see_the_methods(self) -> None:
        assert Report("a").to_dict()["title"] == "a"

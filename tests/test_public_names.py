"""The public names of the package: loaded on demand, listed, importable with a star."""

import pydoc
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import get_args, get_origin

import pytest

import tejat
from tejat import notebook


@pytest.mark.parametrize("package", [tejat, notebook], ids=["tejat", "tejat.notebook"])
def test_every_listed_name_is_there(package: object) -> None:
    names: list[str] = package.__all__  # pyright: ignore[reportAttributeAccessIssue]
    assert len(names) == len(set(names))
    assert [name for name in names if getattr(package, name, None) is None] == []
    assert set(names) <= set(dir(package))


def test_all_lists_what_type_checkers_see() -> None:
    source = import_module("inspect").getsource(tejat)
    declared = (line for line in source.splitlines() if line.startswith("    from tejat.") and " as " in line)
    seen = {line.rpartition(" ")[2] for line in declared}
    assert set(tejat.__all__) == seen | {"__version__"}


UNIONS = (
    *(tejat.AgentEvent, tejat.ApprovalSubject, tejat.Confirmation, tejat.Event),
    *(tejat.MessagePart, tejat.ModelOutput, tejat.Part, tejat.PartListUnion),
)


@pytest.mark.parametrize("union", UNIONS, ids=str)
def test_every_member_of_a_union_is_public(union: object) -> None:
    members = (get_origin(each) or each for each in get_args(union))
    public = {*map(id, (getattr(tejat, name) for name in tejat.__all__)), *map(id, (str, Sequence, type(None)))}
    assert [each for each in members if id(each) not in public] == []


def test_a_star_imports_them_all() -> None:
    work = "from tejat import *; import tejat; print(set(tejat.__all__) <= set(globals()))"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"


def test_help_shows_the_classes() -> None:
    shown = pydoc.plain(pydoc.render_doc(tejat))
    assert "class Agent(" in shown
    assert "event_from_dict(given" in shown


def test_an_unknown_name_is_an_attribute_error() -> None:
    for package in (tejat, notebook):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            package.nothing  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]

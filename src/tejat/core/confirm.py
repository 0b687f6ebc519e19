"""What a person is asked before a call runs, and what they may answer."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from tejat.core.display import DiffStat


class Outcome(StrEnum):
    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class EditConfirmation:
    """A file would be changed. `proposal` belongs to the tool: it is what runs if the answer is yes.

    The contents are given only while they are small; `original_content` is None for a new file too.
    """

    title: str
    file_name: str
    file_path: str
    file_diff: str
    original_content: str | None
    new_content: str | None
    diff_stat: DiffStat | None = None
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="edit", init=False)


@dataclass(frozen=True, slots=True)
class InfoConfirmation:
    """Something would be done that is best told in words."""

    title: str
    prompt: str
    urls: tuple[str, ...] = ()
    proposal: object = field(default=None, repr=False, compare=False)
    type: str = field(default="info", init=False)


Confirmation: TypeAlias = EditConfirmation | InfoConfirmation


@dataclass(frozen=True, slots=True)
class Answer:
    """`new_content` is the proposal as the person rewrote it; it is shown again before it runs."""

    outcome: Outcome
    new_content: str | None = None
    feedback: str | None = None


class Approver(Protocol):
    """Whoever can answer for the person. A run where nobody can answer has no approver at all."""

    async def ask(self, confirmation: Confirmation) -> Answer: ...

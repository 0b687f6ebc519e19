"""A question as a person is to see it: who wants what, why they are asked, what to look out for, and all of it."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import assert_never

from tejat.core.confirm import (
    Confirmation,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    OriginKind,
    Question,
    Risk,
    TrialConfirmation,
)
from tejat.core.json_text import dump_json
from tejat.core.value import value
from tejat.core.words import say, say_count, translated
from tejat.frontends.questions.changes import changed_lines, counts_of, is_new_file, whole_lines
from tejat.frontends.questions.lines import Line, LineKind, command_lines, one_line, said
from tejat.frontends.questions.lookalikes import lookalikes_in, reordered
from tejat.frontends.questions.trials import asked_of, ending_of, heading_of, trial_lines

_LONGEST_ASKED = 40
"""Characters of names of programs that stand in the question itself wherever it is drawn."""


class FactKind(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    PLAIN = "plain"


@value
class Fact:
    """One line of ours about the call, safe to show. What comes first matters most."""

    kind: FactKind
    text: str


@value
class QuestionSheet:
    """Everything that there is to know before an answer, in safe lines that may be of any length.

    `body` is what would be done, and `whole` the same with all that stays as it is, where there is more of it. `told`
    is what somebody else says about it. `must_be_seen`: nobody can agree to the body who has not had it on the screen.
    """

    heading: str
    facts: tuple[Fact, ...]
    body: tuple[Line, ...]
    asked: str
    whole: tuple[Line, ...] = ()
    told: tuple[Line, ...] = ()
    must_be_seen: bool = True


def sheet_of(question: Question, confirmation: Confirmation) -> QuestionSheet:
    """The sheet of a question about a call, which asks for this confirmation."""
    facts = (*_warnings(question, confirmation), *_circumstances(question, confirmation))
    match confirmation:
        case EditConfirmation():
            return QuestionSheet(
                _heading_of_change(confirmation),
                facts,
                tuple(changed_lines(confirmation)),
                say("Apply this change?"),
                whole=tuple(whole_lines(confirmation)),
                must_be_seen=False,
            )
        case ExecConfirmation():
            return QuestionSheet(
                _heading_of_command(confirmation),
                facts,
                tuple(command_lines(confirmation.command)),
                _asked_to_run(confirmation),
            )
        case TrialConfirmation():
            return QuestionSheet(
                heading_of(confirmation), facts, tuple(trial_lines(confirmation)), asked_of(confirmation)
            )
        case McpConfirmation():
            tool, server = one_line(confirmation.tool_name), one_line(confirmation.server_name)
            return QuestionSheet(
                say('Call the tool "{tool}" of the server "{server}"', tool=tool, server=server),
                facts,
                tuple(_arguments(confirmation)),
                say('Allow execution of MCP tool "{tool}" from server "{server}"?', tool=tool, server=server),
                told=tuple(_told_by_server(confirmation)),
            )
        case InfoConfirmation():
            return QuestionSheet(
                _heading_of_words(confirmation), facts, tuple(_words(confirmation)), say("Do you want to proceed?")
            )
        case _:
            assert_never(confirmation)


def risk_in_words(risk: Risk) -> str:
    match risk:
        case Risk.DELETES:
            return say("it deletes or overwrites")
        case Risk.RUNS_DOWNLOAD:
            return say("it runs what it downloads, unseen")
        case Risk.OUTSIDE_ROOTS:
            return say("it goes outside this project")
        case Risk.ELEVATED:
            return say("it takes more rights than you have")
        case Risk.CONTROL_FILE:
            return say("it changes what other programs run")
        case Risk.HIDES_CODE:
            return say("it may run code that cannot be seen here")
        case Risk.REWRITES_HISTORY:
            return say("it rewrites or discards history")
        case Risk.USES_NETWORK:
            return say("it uses the network")
        case _:
            assert_never(risk)


def _heading_of_change(change: EditConfirmation) -> str:
    path, counts = one_line(change.file_path), counts_of(change)
    if counts is None:
        return say("Create {path}", path=path) if is_new_file(change) else say("Edit {path}", path=path)
    added, removed = counts
    if is_new_file(change):
        return say("Create {path} (+{added})", path=path, added=added)
    return say("Edit {path} (+{added} -{removed})", path=path, added=added, removed=removed)


def _heading_of_words(confirmation: InfoConfirmation) -> str:
    if not confirmation.urls:
        return one_line(confirmation.title)
    return say_count(
        "Fetch {count} address from the web", "Fetch {count} addresses from the web", len(confirmation.urls)
    )


def _heading_of_command(confirmation: ExecConfirmation) -> str:
    if not confirmation.directory:
        return say("Run a shell command")
    return say("Run a shell command in {path}", path=one_line(confirmation.directory))


def _asked_to_run(confirmation: ExecConfirmation) -> str:
    if not confirmation.root_commands:
        return say("Allow execution?")
    return say("Allow execution of: '{programs}'?", programs=one_line(confirmation.root_command))


def _warnings(question: Question, confirmation: Confirmation) -> Iterator[Fact]:
    if question.risks:
        risks = "; ".join(risk_in_words(risk) for risk in question.risks)
        yield Fact(FactKind.WARNING, say("Risk: {risks}", risks=risks))
    for told in lookalikes_in(_what_counts(confirmation)):  # before what may go on for pages
        yield Fact(FactKind.WARNING, told)
    if isinstance(confirmation, ExecConfirmation) and (told := reordered(confirmation.command)):
        yield Fact(FactKind.WARNING, told)
    if isinstance(confirmation, TrialConfirmation):
        for obstacle in confirmation.obstacles:
            yield Fact(FactKind.WARNING, say("It cannot be kept: {why}", why=one_line(obstacle)))
        yield Fact(FactKind.NOTE, ending_of(confirmation))
    if question.note:
        yield Fact(FactKind.NOTE, one_line(question.note))
    if question.reason:
        yield Fact(FactKind.PLAIN, say("Reason: {reason}", reason=one_line(translated(question.reason))))


def _circumstances(question: Question, confirmation: Confirmation) -> Iterator[Fact]:
    yield Fact(FactKind.PLAIN, say("Asked by: {who}", who=_who(question)))
    if isinstance(confirmation, ExecConfirmation):
        yield from _circumstances_of_command(confirmation)
    elif isinstance(confirmation, TrialConfirmation):
        yield Fact(FactKind.PLAIN, say("Folder: {path}", path=one_line(confirmation.directory)))
    elif question.directory:
        yield Fact(FactKind.PLAIN, say("Folder: {path}", path=one_line(question.directory)))
    if isinstance(confirmation, McpConfirmation) and confirmation.tool_display_name != confirmation.tool_name:
        yield Fact(FactKind.PLAIN, say("Shown as: {name}", name=one_line(confirmation.tool_display_name)))


def _circumstances_of_command(confirmation: ExecConfirmation) -> Iterator[Fact]:
    for note in confirmation.notes:
        yield Fact(FactKind.NOTE, say("Note: {note}", note=one_line(note)))
    if confirmation.description:
        yield Fact(FactKind.PLAIN, say("The model says: {words}", words=one_line(confirmation.description)))
    if len(confirmation.root_command) > _LONGEST_ASKED:
        yield Fact(FactKind.PLAIN, say("Programs: {names}", names=one_line(confirmation.root_command)))


def _who(question: Question) -> str:
    tool, name = one_line(question.tool_name), one_line(question.origin.name)
    match question.origin.kind:
        case OriginKind.BUILT_IN:
            return say("{tool}, a built-in tool", tool=tool)
        case OriginKind.DISCOVERED:
            return say("{tool}, a tool that a command told of ({name})", tool=tool, name=name)
        case OriginKind.SERVER:
            return say('{tool}, a tool of the server "{name}"', tool=tool, name=name)
        case OriginKind.PLUGIN:
            return say("{tool}, a tool of added code ({name})", tool=tool, name=name or say("given by the caller"))
        case _:
            assert_never(question.origin.kind)


def _told_by_server(confirmation: McpConfirmation) -> Iterator[Line]:
    if confirmation.tool_description:
        yield Line(LineKind.LABEL, say("The server says about it:"))
        yield from said(confirmation.tool_description)
    if confirmation.tool_parameter_schema and confirmation.tool_parameter_schema.get("properties"):
        yield Line(LineKind.LABEL, say("Its parameters:"))
        yield from said(dump_json(confirmation.tool_parameter_schema, indent=1))


def _arguments(confirmation: McpConfirmation) -> Iterator[Line]:
    yield Line(LineKind.LABEL, say("Arguments:") if confirmation.tool_args else say("Arguments: none"))
    if confirmation.tool_args:
        yield from said(dump_json(confirmation.tool_args, indent=2))


def _words(confirmation: InfoConfirmation) -> Iterator[Line]:
    yield from said(confirmation.prompt)
    if confirmation.urls and confirmation.urls != (confirmation.prompt,):
        yield Line(LineKind.LABEL, say("URLs to fetch:"))
        yield from (Line(LineKind.SAID, one_line(url)) for url in confirmation.urls)


def _what_counts(confirmation: Confirmation) -> Iterable[str]:
    """The texts in which a letter of another alphabet would matter."""
    match confirmation:
        case EditConfirmation():
            return [confirmation.file_path, *(line for line in confirmation.file_diff.split("\n") if line[:1] == "+")]
        case ExecConfirmation():
            return [confirmation.command, confirmation.directory, *confirmation.notes]
        case TrialConfirmation():
            paths = (change.path for change in confirmation.changes)
            added = (line for line in confirmation.diff.split("\n") if line[:1] == "+")
            return [confirmation.command, *paths, *added]
        case McpConfirmation():
            return [confirmation.server_name, confirmation.tool_name, dump_json(confirmation.tool_args)]
        case InfoConfirmation():
            return [confirmation.prompt, *confirmation.urls]
        case _:
            assert_never(confirmation)

"""What a command did in a copy of the files, line by line: how it ended, each change, and the diff."""

from collections.abc import Iterator
from typing import assert_never

from tejat.core.confirm import TrialConfirmation
from tejat.core.undo import Change, Node, NodeKind, Verb
from tejat.core.words import say, say_count
from tejat.frontends.questions.changes import patch_lines
from tejat.frontends.questions.lines import Line, LineKind, command_lines, one_line, said


def heading_of(trial: TrialConfirmation) -> str:
    if not trial.changes and trial.obstacles:
        return say("The command was run in a copy")
    if not trial.changes:
        return say("The command changed nothing in the copy")
    return say_count(
        "The command changed {count} file in the copy",
        "The command changed {count} files in the copy",
        len(trial.changes),
    )


def ending_of(trial: TrialConfirmation) -> str:
    if trial.exit_code is None:
        return say("It did not come to its end.")
    if trial.exit_code < 0:
        return say("It was ended by signal {number}.", number=-trial.exit_code)
    return say("Exit code: {code}", code=trial.exit_code)


def trial_lines(trial: TrialConfirmation) -> Iterator[Line]:
    """The command, what it printed, what it changed. All of it is somebody else's but the labels."""
    yield from command_lines(trial.command)
    if trial.output.strip():
        yield Line(LineKind.LABEL, say("It printed:"))
        yield from said(trial.output.rstrip("\n"))
    if trial.changes:
        yield Line(LineKind.LABEL, say("What it changed:"))
    for change in trial.changes:
        yield Line(LineKind.SAID, _in_a_line(change))
    if trial.diff:
        yield Line(LineKind.LABEL, say("As a diff:"))
        yield from patch_lines(trial.diff)


def asked_of(trial: TrialConfirmation) -> str:
    if trial.obstacles:
        return say("This cannot be kept. What now?")
    return say("Keep these changes?") if trial.changes else say("Go on with this result?")


def _in_a_line(change: Change) -> str:
    path = one_line(change.full_path)
    node = change.after or change.before
    what = "" if node is None else _described(node)
    match change.verb:
        case Verb.CREATED:
            return say("created: {path} ({what})", path=path, what=what)
        case Verb.REMOVED:
            return say("removed: {path} ({what})", path=path, what=what)
        case Verb.CHANGED:
            old = "" if change.before is None else _described(change.before)
            return say("changed: {path} ({what}; before: {old})", path=path, what=what, old=old)
        case Verb.PERMISSIONS:
            old = "" if change.before is None else f"{change.before.permissions:04o}"
            new = "" if change.after is None else f"{change.after.permissions:04o}"
            return say("permissions of {path}: {old}, then {new}", path=path, old=old, new=new)
        case _:
            assert_never(change.verb)


def _described(node: Node) -> str:
    match node.kind:
        case NodeKind.FILE:
            size = say_count("{count} byte", "{count} bytes", node.size)
            return say("file of {size}, {mode}", size=size, mode=f"{node.permissions:04o}")
        case NodeKind.LINK:
            return say("link to {target}", target=one_line(node.target or ""))
        case NodeKind.DIRECTORY:
            return say("directory, {mode}", mode=f"{node.permissions:04o}")
        case _:
            assert_never(node.kind)

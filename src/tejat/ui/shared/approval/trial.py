"""Trial runs in a copy of the files as display lines: exit status, changes and diff."""

from collections.abc import Iterator
from typing import assert_never

from tejat.core.approval.confirmation import TrialConfirmation
from tejat.core.i18n import _, ngettext
from tejat.core.undo import ChangeKind, PathChange, PathKind, PathState
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, command_lines, escape_line, quote_lines
from tejat.ui.shared.approval.edit_diff import patch_lines


def trial_heading(trial: TrialConfirmation) -> str:
    count = len(trial.changes)
    if not count:
        return _("The command was run in a copy") if trial.obstacles else _("The command changed nothing in the copy")
    return ngettext(
        "The command changed {count} file in the copy", "The command changed {count} files in the copy", count
    )


def trial_exit_label(trial: TrialConfirmation) -> str:
    if trial.exit_code is None:
        return _("It did not come to its end.")
    if trial.exit_code < 0:
        return _("It was ended by signal {number}.", number=-trial.exit_code)
    return _("Exit code: {code}", code=trial.exit_code)


def trial_lines(trial: TrialConfirmation) -> Iterator[DisplayLine]:
    """Yield the command, its output and its changes. All but the labels is third-party text."""
    yield from command_lines(trial.command)
    if trial.output.strip():
        yield DisplayLine(DisplayLineKind.LABEL, _("It printed:"))
        yield from quote_lines(trial.output.rstrip("\n"))
    if trial.changes:
        yield DisplayLine(DisplayLineKind.LABEL, _("What it changed:"))
    for change in trial.changes:
        yield DisplayLine(DisplayLineKind.QUOTED, _describe_change(change))
    if trial.diff:
        yield DisplayLine(DisplayLineKind.LABEL, _("As a diff:"))
        yield from patch_lines(trial.diff)


def trial_prompt(trial: TrialConfirmation) -> str:
    if trial.obstacles:
        return _("This cannot be kept. What now?")
    return _("Keep these changes?") if trial.changes else _("Go on with this result?")


def _describe_change(change: PathChange) -> str:
    path = escape_line(change.full_path)
    node = change.after or change.before
    what = "" if node is None else _describe_node(node)
    match change.kind:
        case ChangeKind.CREATED:
            return _("created: {path} ({what})", path=path, what=what)
        case ChangeKind.REMOVED:
            return _("removed: {path} ({what})", path=path, what=what)
        case ChangeKind.CHANGED:
            old = "" if change.before is None else _describe_node(change.before)
            return _("changed: {path} ({what}; before: {old})", path=path, what=what, old=old)
        case ChangeKind.PERMISSIONS:
            old = "" if change.before is None else f"{change.before.permissions:04o}"
            new = "" if change.after is None else f"{change.after.permissions:04o}"
            return _("permissions of {path}: {old}, then {new}", path=path, old=old, new=new)
        case _:
            assert_never(change.kind)


def _describe_node(node: PathState) -> str:
    match node.kind:
        case PathKind.FILE:
            size = ngettext("{count} byte", "{count} bytes", node.size)
            return _("file of {size}, {mode}", size=size, mode=f"{node.permissions:04o}")
        case PathKind.LINK:
            return _("link to {target}", target=escape_line(node.target or ""))
        case PathKind.DIRECTORY:
            return _("directory, {mode}", mode=f"{node.permissions:04o}")
        case _:
            assert_never(node.kind)

"""Trial runs in a copy of the files as display lines: exit status, changes and diff."""

from collections.abc import Iterator
from typing import assert_never

from tejat.core.approval.confirmation import TrialConfirmation
from tejat.core.i18n import _, ngettext
from tejat.core.undo import ChangeKind, PathChange, PathKind, PathState
from tejat.ui.shared.approval.display_lines import DisplayLine, DisplayLineKind, command_lines, escape_line, quote_lines
from tejat.ui.shared.path_labels import shorten_path


def trial_heading(trial: TrialConfirmation) -> str:
    count = len(trial.changes)
    if trial.agent:
        agent = escape_line(trial.agent)
        return ngettext(
            "{agent} changed {count} file in a copy", "{agent} changed {count} files in a copy", count, agent=agent
        )
    if not count:
        return _("Trial run in a copy") if trial.obstacles else _("Trial run in a copy: no changes")
    return ngettext("Trial run in a copy: {count} file changed", "Trial run in a copy: {count} files changed", count)


def trial_exit_label(trial: TrialConfirmation) -> str:
    if trial.exit_code is None:
        return _("The command did not finish.")
    if trial.exit_code < 0:
        return _("Ended by signal {number}", number=-trial.exit_code)
    return _("Exit code: {code}", code=trial.exit_code)


def trial_lines(trial: TrialConfirmation, *, folder: str) -> Iterator[DisplayLine]:
    """Yield the command, its output and the changed files, relative to `folder`.

    All but the labels is third-party.
    """
    if not trial.agent:  # its task is part of every question of an agent
        yield from command_lines(trial.command)
    if trial.output.strip():
        yield DisplayLine(DisplayLineKind.LABEL, _("Result:") if trial.agent else _("Output:"))
        yield from quote_lines(trial.output.rstrip("\n"))
    if trial.changes:
        yield DisplayLine(DisplayLineKind.LABEL, _("Changed files:"))
    for change in trial.changes:
        yield DisplayLine(DisplayLineKind.QUOTED, _describe_change(change, folder))


def change_list(trial: TrialConfirmation) -> str:
    """The changed files, one path per line, for the user to delete those that are not to be kept."""
    return "".join(f"{change.full_path}\n" for change in trial.changes)


def trial_prompt(trial: TrialConfirmation) -> str:
    if trial.obstacles:
        return _("This result cannot be kept. What next?")
    return _("Keep these changes?") if trial.changes else _("Continue with this result?")


def _describe_change(change: PathChange, folder: str) -> str:
    path = escape_line(shorten_path(change.full_path, folder=folder))
    node = change.after or change.before
    what = "" if node is None else _describe_node(node)
    match change.kind:
        case ChangeKind.CREATED:
            return _("created: {path} ({what})", path=path, what=what)
        case ChangeKind.REMOVED:
            return _("removed: {path} ({what})", path=path, what=what)
        case ChangeKind.CHANGED:
            old = "" if change.before is None else _describe_node(change.before)
            return _("changed: {path} ({what}; was: {old})", path=path, what=what, old=old)
        case ChangeKind.PERMISSIONS:
            old = "" if change.before is None else f"{change.before.permissions:04o}"
            new = "" if change.after is None else f"{change.after.permissions:04o}"
            return _("permissions: {path} ({old} to {new})", path=path, old=old, new=new)
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

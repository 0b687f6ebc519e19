"""Saved "always" rules: one policy file, replaced atomically."""

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import pairwise
from typing import cast

from tejat.config.files.directory import make_private_directory
from tejat.config.files.lock import file_lock
from tejat.config.files.reader import MAX_BYTES, MAX_TRUSTED_BYTES, AllowedWriters, read_config_file
from tejat.config.paths import AppPaths
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.workspace.files.private_files import write_private_file

_HEADER = """\
# Written by tejat: rules from questions that were answered with "always". List them with `tejat policy list`, remove
# one with `tejat policy revoke`. Keep your own rules in another .toml file in this directory.
"""
_LOCK_TIMEOUT = 30.0
_MIN_ID_PREFIX = 4


class SavedRule(Frozen):
    """A saved `[[rule]]` table as written, and its line in the file, from 1.

    `id` depends on the text alone, so it does not change when other rules are saved or revoked.
    """

    id: str
    toml: str
    line: int


def read_saved_rules(paths: AppPaths) -> list[SavedRule]:
    """The saved rules in file order. Raises UsageError for a file that cannot be read or parsed."""
    return _parse_rules(_read(paths.saved_rules), paths.saved_rules)


def save_rules(paths: AppPaths, toml: str) -> None:
    """Add the `[[rule]]` tables of `toml` that are not saved yet. Blocks while another process holds the lock.

    Raises UsageError, and leaves the file unchanged, if they cannot be saved.
    """
    with _open_for_update(paths, lazy("Could not save the rule")) as path:
        added = _parse_rules(toml, lazy("the new rule"))
        if not added or toml[: toml.index("[[")].strip():
            raise UsageError(lazy("it must consist of [[rule]] tables"))
        text = _read(path)
        _parse_rules(text, path)
        tables = list(cast("list[object]", _parse_toml(text, path).get("rule", [])))
        grown = text or _HEADER
        for rule in added:
            table = _parse_single_rule(rule.toml)
            # An equivalent rule may be saved already, written in another way.
            if table not in tables:
                tables.append(table)
                grown = f"{grown.rstrip()}\n\n{rule.toml}"
        if len(grown.encode()) > MAX_BYTES:
            grown = _without_missing_projects(grown, path)
        if len(grown.encode()) > MAX_TRUSTED_BYTES:
            raise UsageError(
                lazy(
                    "{path} would be longer than {size} MiB. `tejat policy list` shows the rules, "
                    "`tejat policy revoke ID` removes one, and `tejat policy revoke --all` removes them all",
                    path=path,
                    size=MAX_TRUSTED_BYTES // 2**20,
                )
            )
        if grown != (text or _HEADER):
            _parse_rules(grown, path)
            write_private_file(path, grown)


def revoke_rule(paths: AppPaths, rule: str) -> str:
    """Remove the rule with this id, a unique prefix of it, or this text; returns its text.

    Raises UsageError if there is no such rule or more than one, or if the file cannot be changed.
    """
    return _remove(paths, lambda rules: _match_rule(rules, rule))[0]


def revoke_all_rules(paths: AppPaths) -> list[str]:
    """Remove all saved rules and return their texts. Raises UsageError if the file cannot be changed."""
    return _remove(paths, list)


def _remove(paths: AppPaths, choose: Callable[[list[SavedRule]], list[SavedRule]]) -> list[str]:
    with _open_for_update(paths, lazy("Nothing was revoked")) as path:
        text = _read(path)
        rules = _parse_rules(text, path)
        chosen = choose(rules)
        if chosen:
            lines = _lines(text)
            for rule in reversed(chosen):
                _remove_lines(lines, rule)
            write_private_file(path, "".join(lines))
        return [rule.toml for rule in chosen]


def _without_missing_projects(text: str, path: str) -> str:
    """The text without the rules of projects that do not exist any more."""
    lines = _lines(text)
    for rule in reversed(_parse_rules(text, path)):
        table = _parse_single_rule(rule.toml)
        project = cast("dict[str, object]", table).get("project") if isinstance(table, dict) else None
        if isinstance(project, str) and not os.path.isdir(project):
            _remove_lines(lines, rule)
    return "".join(lines)


def _remove_lines(lines: list[str], rule: SavedRule) -> None:
    """Remove the lines of a rule and one blank line before it. Other text stays."""
    start = rule.line - 1
    end = start + rule.toml.count("\n")
    if start > 0 and not lines[start - 1].strip():
        start -= 1
    del lines[start:end]


def _match_rule(rules: list[SavedRule], which: str) -> list[SavedRule]:
    wanted = which.strip()
    found = [rule for rule in rules if wanted == rule.id or wanted == rule.toml.strip()]
    if not found and len(wanted) >= _MIN_ID_PREFIX:
        found = [rule for rule in rules if rule.id.startswith(wanted)]
    if not found:
        raise UsageError(lazy("no saved rule {wanted!r}. List them with `tejat policy list`.", wanted=wanted))
    if len({rule.id for rule in found}) > 1:
        names = " or ".join(rule.id for rule in found)
        raise UsageError(lazy("{wanted!r} is ambiguous: {names}", wanted=wanted, names=names))
    return found


@contextmanager
def _open_for_update(paths: AppPaths, failure: str) -> Generator[str]:
    """Hold the lock and yield the path of the file. Errors are prefixed with `failure`."""
    path = paths.saved_rules
    try:
        directory = make_private_directory(os.path.dirname(path))
        with file_lock(os.path.join(directory, "saved.lock"), timeout=_LOCK_TIMEOUT):
            yield path
    except UsageError as error:
        raise UsageError(join_lazy("", (failure, ": ", str(error)))) from error
    except OSError as error:
        raise UsageError(join_lazy("", (failure, f": {path}: {error.strerror}"))) from error


def _read(path: str) -> str:
    return read_config_file(path, writers=AllowedWriters.TRUSTED) or ""


def _parse_rules(text: str, path: str) -> list[SavedRule]:
    """Split the text into rules. Raises UsageError if that is ambiguous."""
    tables = _parse_toml(text, path).get("rule", [])
    lines = _lines(text)
    starts = [number for number, line in enumerate(lines) if _TABLE_START.match(line)]
    rules = [_parse_rule(start, lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
    # A line that looks like a table header may be part of a string, or a table may be written in another way.
    if [_parse_single_rule(rule.toml) for rule in rules] != tables:
        raise UsageError(lazy("the layout of {path} cannot be edited automatically: edit it by hand", path=path))
    return rules


def _lines(text: str) -> list[str]:
    """The lines with their ends. Unlike `splitlines` it splits at LF only, as TOML does."""
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _parse_toml(text: str, path: str) -> dict[str, object]:
    try:
        text.encode()
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(lazy("{path}: invalid TOML: {why}", path=path, why=error)) from None


def _parse_single_rule(text: str) -> object:
    """The table of a single rule, None for anything else."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    match tables:
        case {"rule": [table], **others} if not others:
            return cast("object", table)
        case _:
            return None


def _parse_rule(start: int, lines: list[str]) -> SavedRule:
    """The rule in these lines, without trailing blank lines and comments."""
    while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
        lines.pop()
    toml = "".join(lines).replace("\r\n", "\n")
    return SavedRule(hashlib.sha256(toml.encode()).hexdigest()[:8], toml, start + 1)


_TABLE_START = re.compile(r"[ \t]*\[\[[ \t]*rule[ \t]*\]\]")

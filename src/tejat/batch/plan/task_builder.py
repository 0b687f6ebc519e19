"""Building tasks: the fields of a record, the defaults of flags, and templates."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from tejat.batch.plan.fields import MAX_TEXT_BYTES, GivenFields, parse_fields, readable_id
from tejat.batch.plan.repository import repository_name, resolve_repository, without_credentials
from tejat.batch.plan.template import fill_command, fill_prompt, uses_variable
from tejat.batch.plan.types import InvalidTask, RejectedTask, TaskDefaults, TaskRecord
from tejat.batch.task import BatchTask, TaskLimits
from tejat.core.i18n import _
from tejat.core.sanitize import is_blank
from tejat.models.names import Provider
from tejat.workspace.files.regular_file import regular_file_opener

_T = TypeVar("_T")


class TaskBuilder:
    """Builds the tasks of one file. Paths in them are relative to `directory`."""

    def __init__(self, defaults: TaskDefaults, *, directory: str) -> None:
        self._defaults = defaults
        self._directory = os.path.abspath(directory)
        # Many tasks may share a file.
        self._read_prompt = lru_cache(maxsize=1)(_read_prompt_file)

    def build(self, record: TaskRecord) -> BatchTask | RejectedTask:
        """The task of a record, or why there is none. Raises nothing."""
        try:
            return self._build(record)
        except InvalidTask as error:
            task_id = readable_id(record.values) or record.fallback_id
            return RejectedTask(task_id, error.failure, str(error), record.source)

    def _build(self, record: TaskRecord) -> BatchTask:
        given, defaults = parse_fields(record.values), self._defaults
        if given.repo is None:
            raise InvalidTask(_("No repository. Set repo to a path or a git URL."))
        task_id = record.fallback_id if given.id is None else given.id
        repo = resolve_repository(given.repo, directory=self._directory)
        commit = _or(given.commit, defaults.commit)
        variables = given.vars or {}
        built_in = {"id": task_id, "repo": without_credentials(repo), "commit": commit, "name": repository_name(repo)}
        if given.problem_statement is not None:
            built_in["problem_statement"] = given.problem_statement
        return BatchTask(
            id=task_id,
            repo=repo,
            prompt=self._prompt(given, {**built_in, **variables}),
            commit=commit,
            model=defaults.model if given.model is None else resolve_model(given.model, self._directory),
            limits=_limits(given, defaults.limits),
            allowed_tools=_or(given.allowed_tools, defaults.allowed_tools),
            excluded_tools=_or(given.exclude_tools, defaults.excluded_tools),
            approval_mode=_or(given.approval_mode, defaults.approval_mode),
            sandbox=_or(given.sandbox, defaults.sandbox),
            trusts_folder=_or(given.trust, defaults.trusts_folder),
            check=fill_command(_or(given.check, defaults.check), {**built_in, **variables}),
            check_seconds=_or(given.check_timeout, defaults.check_seconds),
            allows_no_changes=_or(given.allow_no_changes, defaults.allows_no_changes),
            allows_dirty=_or(given.allow_dirty, defaults.allows_dirty),
            variables=variables,
            source=record.source,
        )

    def _prompt(self, given: GivenFields, variables: Mapping[str, str]) -> str:
        if given.prompt is not None and given.prompt_file is not None:
            raise InvalidTask(_("Both prompt and prompt_file are set. Use one of them."))
        template, statement = self._defaults.prompt, given.problem_statement
        if given.prompt is not None:
            template = given.prompt
        elif given.prompt_file is not None:
            template = self._read_prompt(os.path.join(self._directory, os.path.expanduser(given.prompt_file)))
        elif statement is not None and not uses_variable(template, "problem_statement"):
            if is_blank(statement):
                raise InvalidTask(_("The prompt is empty."))
            return statement
        elif not template:
            raise InvalidTask(_("No prompt. Set prompt or prompt_file, or add -p PROMPT for all tasks."))
        prompt = fill_prompt(template, variables)
        if is_blank(prompt):
            raise InvalidTask(_("The prompt is empty."))
        return prompt


def resolve_model(model: str, directory: str) -> str:
    """The name of a model, with the file of a scripted one relative to this directory."""
    provider, _colon, path = model.partition(":")
    return f"{provider}:{os.path.join(directory, os.path.expanduser(path))}" if provider == Provider.SCRIPTED else model


def _limits(given: GivenFields, defaults: TaskLimits) -> TaskLimits:
    return TaskLimits(
        seconds=_or(given.timeout, defaults.seconds),
        cost=_or(given.max_cost, defaults.cost),
        tokens=_or(given.max_tokens, defaults.tokens),
        turns=_or(given.max_turns, defaults.turns),
    )


def _or(given: _T | None, default: _T) -> _T:
    return default if given is None else given


def _read_prompt_file(path: str) -> str:
    """Raises InvalidTask."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(MAX_TEXT_BYTES + 1)
        if len(content) > MAX_TEXT_BYTES:
            raise InvalidTask(_("{path} is larger than {size} MB.", path=path, size=MAX_TEXT_BYTES // 2**20))
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidTask(_("Could not read {path}: {why}.", path=path, why=error.strerror or error)) from None
    except UnicodeDecodeError as error:
        raise InvalidTask(_("{path} is not UTF-8: invalid byte {at}.", path=path, at=error.start + 1)) from None
    if "\0" in text:
        raise InvalidTask(_("{path} contains a NUL character.", path=path))
    return text

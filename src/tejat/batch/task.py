"""The task of a batch: a repository, a prompt, limits, and a command that decides success."""

from collections.abc import Mapping
from typing import Any

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, field, fields_of
from tejat.core.messages.types import JsonObject


class TaskLimits(Frozen):
    """Limits of one task. None means no limit. `seconds` is for the run of the agent, without its check."""

    seconds: float | None = None
    cost: float | None = None
    tokens: int | None = None
    turns: int | None = None


class BatchTask(Frozen):
    """One task, with all defaults applied and the variables of its prompt replaced.

    `repo` is an absolute path or a git URL, `commit` a hash, a branch or a tag; an empty one means HEAD. `model` is a
    name as for `--model`, None for the one of the settings. `allowed_tools`, `approval_mode`, `sandbox` and
    `trusts_folder` are as for a headless run. `check` is a shell command that runs in the tree after the agent; its
    exit code decides. Without a check a run must end well and change something, unless `allows_no_changes`.
    `variables` are the fields of the task file that are not fields of a task. `source` says where the task comes from,
    such as `tasks.jsonl:7`.
    """

    id: str
    repo: str
    prompt: str
    commit: str = ""
    model: str | None = None
    limits: TaskLimits = field(default_factory=TaskLimits)
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    approval_mode: str = ApprovalMode.AUTO_EDIT.value
    sandbox: str = "required"
    trusts_folder: bool = False
    check: str = ""
    check_seconds: float = 600.0
    allows_no_changes: bool = False
    allows_dirty: bool = False
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    source: str = ""


def task_to_json(task: BatchTask) -> JsonObject:
    """The task as a JSON object."""
    values = {each.name: getattr(task, each.name) for each in fields_of(BatchTask)}
    limits = {each.name: getattr(task.limits, each.name) for each in fields_of(TaskLimits)}
    lists = {name: list(values[name]) for name in ("allowed_tools", "excluded_tools")}
    return {**values, **lists, "limits": limits, "variables": dict(task.variables)}


def task_from_json(found: JsonObject) -> BatchTask:
    """The task of an object that `task_to_json` made. Raises KeyError, TypeError or ValueError for any other."""
    values: dict[str, Any] = dict(found)
    values["limits"] = TaskLimits(**values["limits"])
    for name in ("allowed_tools", "excluded_tools"):
        values[name] = tuple(values[name])
    return BatchTask(**values)

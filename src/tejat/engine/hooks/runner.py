"""Execution of hooks: shell commands with JSON input and output, and Python functions."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

from tejat.config.extensions.active import ActiveExtension
from tejat.config.hooks import HookConfig, precedence
from tejat.config.paths import SourceTier
from tejat.config.trust.pinned_commands import PinnedCommands, describe_changed_file
from tejat.core.agent.hooks import GUARD_EVENTS, HookEvent
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy
from tejat.core.json_text import dump_json
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.engine.hooks.function_call import call_function
from tejat.engine.hooks.result import MAX_OUTPUT_BYTES, HookResult, failed_result, parse_result
from tejat.policy.types import Decision
from tejat.workspace.processes.program import run_program
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.offload import run_blocking

PROJECT_VARIABLES = ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR")
SESSION_VARIABLE = "GEMINI_SESSION_ID"
_PLANS_VARIABLE = "GEMINI_PLANS_DIR"

_MAX_CONCURRENT = 16


class HookContext(Frozen):
    """The environment of hooks. `interpreter` is the command prefix, `environment` all variables.

    `project` is the directory that hooks are told, `directory` their real working directory. `transcript_path` is the
    journal of the session, if there is one. `pinned` are commands that run only while their files are unchanged.
    `extensions` are those in use, by name: their hooks run only while they are unchanged.
    `plan_directory` is where the plans of the session are, empty if there are none.
    """

    supervisor: ProcessSupervisor
    interpreter: tuple[str, ...]
    project: str
    directory: str
    environment: Mapping[str, str]
    session_id: str
    transcript_path: str = ""
    pinned: PinnedCommands = field(default_factory=PinnedCommands)
    extensions: Mapping[str, ActiveExtension] = field(default_factory=dict[str, ActiveExtension])
    plan_directory: str = ""

    @property
    def session_variables(self) -> Mapping[str, str]:
        plans = {_PLANS_VARIABLE: self.plan_directory} if self.plan_directory else {}
        return {SESSION_VARIABLE: self.session_id, **plans}


class HookInvocation(Frozen):
    """A hook to run, with the input fields for this hook only.

    `argument_names` maps arguments of the call to the names that this hook knows.
    """

    hook: HookConfig
    extra_fields: JsonObject = field(default_factory=dict[str, JsonValue])
    argument_names: Mapping[str, str] = field(default_factory=dict[str, str])


async def run_hooks(
    invocations: Sequence[HookInvocation], fields: JsonObject, context: HookContext
) -> list[HookResult]:
    """Run the hooks of one event and return their results in order.

    Raises CancelledError, and CallbackFailure with what a Python function raised.

    Project hooks run first, then those of each extension, then user hooks, then system hooks: higher precedence sees
    the changes of lower. Hooks of the same source run concurrently unless one of them is sequential; then each sees the
    changes of those before it. The same command runs once.
    """
    outcomes: list[HookResult] = []
    for _, tier_group in groupby(_deduplicate(invocations), key=lambda each: precedence(each.hook)):
        hooks = list(tier_group)
        is_sequential = any(each.hook.is_sequential for each in hooks)
        for group in ([each] for each in hooks) if is_sequential else [hooks]:
            results = await _run_concurrently(group, fields, context)
            for outcome in results:
                fields = _fields_after(fields, outcome)
            outcomes += results
    return outcomes


def apply_new_input(params: JsonObject, outcome: HookResult) -> JsonObject:
    """Return the arguments of a call with the changes of a hook."""
    if outcome.new_input is None:
        return params
    return outcome.new_input if outcome.replaces_input else {**params, **outcome.new_input}


def _deduplicate(invocations: Sequence[HookInvocation]) -> list[HookInvocation]:
    """Keep the same command only once, in the tier with the highest precedence, ordered by precedence.

    Those of an extension are its own: they have its variables.
    """
    latest = {
        (
            each.hook.event_name,
            each.hook.command or each.hook.problem,
            each.hook.extension,
            id(each.hook.function),
        ): each
        for each in invocations
    }
    return sorted(latest.values(), key=lambda each: precedence(each.hook))


async def _run_concurrently(
    invocations: Sequence[HookInvocation], fields: JsonObject, context: HookContext
) -> list[HookResult]:
    if len(invocations) == 1:
        return [await _run_hook(invocations[0], fields, context)]
    room = asyncio.Semaphore(_MAX_CONCURRENT)

    async def run(each: HookInvocation) -> HookResult:
        async with room:
            return await _run_hook(each, fields, context)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(each)) for each in invocations]
    return [task.result() for task in tasks]


async def _run_hook(invocation: HookInvocation, fields: JsonObject, context: HookContext) -> HookResult:
    hook = invocation.hook
    if hook.problem:
        if hook.event in GUARD_EVENTS:
            return HookResult(hook, Decision.DENY, hook.problem)
        return failed_result(hook, lazy("has an invalid command"))
    if refusal := hook.refusal or await _find_change(hook, context):
        return failed_result(hook, lazy("was not run: {changed}", changed=refusal))
    fields = _rename_arguments(invocation, fields)
    payload: JsonObject = {
        "session_id": context.session_id,
        "transcript_path": context.transcript_path,
        "cwd": context.project,
        "hook_event_name": hook.event_name,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **fields,
        **invocation.extra_fields,
    }
    if hook.function is not None:
        return await call_function(hook, hook.function, payload)
    try:
        finished = await run_program(
            context.supervisor,
            (*context.interpreter, quote_variables(hook.command)),
            directory=context.directory,
            environment={**context.environment, **context.session_variables, **hook.environment},
            input=dump_json(payload).encode(),
            seconds=hook.timeout,
            max_bytes=MAX_OUTPUT_BYTES,
        )
    except OSError as error:
        return failed_result(hook, lazy("could not be run: {why}", why=error.strerror or error))
    except Exception as error:  # noqa: BLE001 -- no error of a hook may let anything through
        report_unexpected(error, "a hook")
        return failed_result(hook, lazy("could not be run: {kind}", kind=type(error).__name__))
    outcome = parse_result(hook, finished)
    params = fields.get("tool_input")
    if invocation.argument_names and outcome.new_input is not None and isinstance(params, Mapping):
        return replace(outcome, new_input=apply_new_input(params, outcome), replaces_input=True)
    return outcome


async def _find_change(hook: HookConfig, context: HookContext) -> str:
    """Why a hook of the project or of an extension must not run any more, empty if it may."""
    if hook.tier is SourceTier.WORKSPACE:
        changed = context.pinned.find_changed_file(hook.command)
        return "" if changed is None else describe_changed_file(changed)
    extension = context.extensions.get(hook.extension)
    pinned = None if extension is None else extension.pinned
    return "" if pinned is None else await run_blocking(lambda _: pinned.find_change())


def _rename_arguments(invocation: HookInvocation, fields: JsonObject) -> JsonObject:
    params, names = fields.get("tool_input"), invocation.argument_names
    if not names or not isinstance(params, Mapping):
        return fields
    return {**fields, "tool_input": {names.get(name, name): value for name, value in params.items()}}


def quote_variables(command: str) -> str:
    """Quote the unquoted hook variables of a command, whose paths may contain blanks."""
    return re.sub(_QUOTED_OR_VARIABLE, lambda found: f'"{found[1]}"' if found[1] else found[0], command)


_VARIABLE_NAMES = "|".join((*PROJECT_VARIABLES, SESSION_VARIABLE))
# Quoted text and escaped characters are skipped.
_QUOTED_OR_VARIABLE = (
    rf"(?s)'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(\$\{{(?:{_VARIABLE_NAMES})\}}|\$(?:{_VARIABLE_NAMES})(?!\w))"
)


def _fields_after(fields: JsonObject, outcome: HookResult) -> JsonObject:
    """Return the input of the next hooks: the rewritten call, or the prompt with added context."""
    changed: dict[str, JsonValue] = dict(fields)
    params, prompt = fields.get("tool_input"), fields.get("prompt")
    if outcome.hook.event is HookEvent.BEFORE_TOOL and isinstance(params, Mapping):
        changed["tool_input"] = apply_new_input(params, outcome)
    if outcome.hook.event is HookEvent.BEFORE_AGENT and isinstance(prompt, str) and outcome.context:
        changed["prompt"] = f"{prompt}\n\n{outcome.context}"
    return changed

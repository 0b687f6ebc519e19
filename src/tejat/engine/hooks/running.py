"""Runs the hooks of an event, each a shell command that is told in JSON what happens and answers in JSON."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

from tejat.config.hooks import Hook, rank
from tejat.config.pinned_files import PinnedCommands, changed_in_words
from tejat.config.places import SourceTier
from tejat.core.hooks import GUARDS, HookEvent
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import field, replace, value
from tejat.core.words import phrase
from tejat.engine.hooks.outcome import MOST_BYTES, Outcome, failed, outcome_of
from tejat.policy.rules import Decision
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.program import run_program

PROJECT_VARIABLES = ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR")
SESSION_VARIABLE = "GEMINI_SESSION_ID"

_MOST_AT_ONCE = 16


@value
class Surroundings:
    """Where hooks run: `interpreter` are the words before a command line, `environment` is all that they see.

    `project` is where they are told to be, `directory` where they really are. `transcript` is the path of what is
    written down of the session, if anything is. `pinned` are commands that only run as they were.
    """

    keeper: Keeper
    interpreter: tuple[str, ...]
    project: str
    directory: str
    environment: Mapping[str, str]
    session_id: str
    transcript: str = ""
    pinned: PinnedCommands = field(default_factory=PinnedCommands)


@value
class Meant:
    """A hook that is to run, and what only this hook is told.

    `renamed` are arguments of the call that this hook knows by another name.
    """

    hook: Hook
    told: JsonObject = field(default_factory=dict[str, JsonValue])
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])


async def run_hooks(meant: Sequence[Meant], fields: JsonObject, around: Surroundings) -> list[Outcome]:
    """What the hooks of one event came to, in their order. Raises nothing but the cancellation of its task.

    Those of the project are heard first, then the person's, then the machine's: whoever has more of a say sees what the
    others made of it. Hooks of the same party run side by side, unless one of them is sequential: then each sees what
    those before it changed. The same command runs once.
    """
    outcomes: list[Outcome] = []
    for _, party in groupby(_each_once(meant), key=lambda each: rank(each.hook.tier)):
        hooks = list(party)
        is_sequential = any(each.hook.is_sequential for each in hooks)
        for together in ([each] for each in hooks) if is_sequential else [hooks]:
            heard = await _run_together(together, fields, around)
            for outcome in heard:
                fields = _carried_on(fields, outcome)
            outcomes += heard
    return outcomes


def rewritten(params: JsonObject, outcome: Outcome) -> JsonObject:
    """The arguments of a call as the hook wants them."""
    if outcome.new_input is None:
        return params
    return outcome.new_input if outcome.replaces_input else {**params, **outcome.new_input}


def _each_once(meant: Sequence[Meant]) -> list[Meant]:
    """The same command is heard with those who have the most of a say. The order is theirs."""
    latest = {(each.hook.spelling, each.hook.command or each.hook.problem): each for each in meant}
    return sorted(latest.values(), key=lambda each: rank(each.hook.tier))


async def _run_together(meant: Sequence[Meant], fields: JsonObject, around: Surroundings) -> list[Outcome]:
    if len(meant) == 1:
        return [await _run(meant[0], fields, around)]
    room = asyncio.Semaphore(_MOST_AT_ONCE)

    async def run(each: Meant) -> Outcome:
        async with room:
            return await _run(each, fields, around)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(each)) for each in meant]
    return [task.result() for task in tasks]


async def _run(meant: Meant, fields: JsonObject, around: Surroundings) -> Outcome:
    hook = meant.hook
    if hook.problem:
        return (
            Outcome(hook, Decision.DENY, hook.problem)
            if hook.event in GUARDS
            else failed(hook, phrase("is not understood"))
        )
    if hook.tier is SourceTier.WORKSPACE and (changed := around.pinned.changed(hook.command)):
        return failed(hook, phrase("was not run: {changed}", changed=changed_in_words(changed)))
    fields = _in_words_of(meant, fields)
    told: JsonObject = {
        "session_id": around.session_id,
        "transcript_path": around.transcript,
        "cwd": around.project,
        "hook_event_name": hook.spelling,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **fields,
        **meant.told,
    }
    try:
        finished = await run_program(
            around.keeper,
            (*around.interpreter, with_quoted_places(hook.command)),
            directory=around.directory,
            environment={**around.environment, SESSION_VARIABLE: around.session_id},
            input=dump_json(told).encode(),
            seconds=hook.seconds,
            most_bytes=MOST_BYTES,
        )
    except OSError as error:
        return failed(hook, phrase("could not be run: {why}", why=error.strerror or error))
    except Exception as error:  # noqa: BLE001 -- no error of a hook may let anything through
        return failed(hook, phrase("could not be run: {kind}", kind=type(error).__name__))
    outcome = outcome_of(hook, finished)
    params = fields.get("tool_input")
    if meant.renamed and outcome.new_input is not None and isinstance(params, Mapping):
        return replace(outcome, new_input=rewritten(params, outcome), replaces_input=True)
    return outcome


def _in_words_of(meant: Meant, fields: JsonObject) -> JsonObject:
    params = fields.get("tool_input")
    if not meant.renamed or not isinstance(params, Mapping):
        return fields
    return {**fields, "tool_input": {meant.renamed.get(name, name): given for name, given in params.items()}}


def with_quoted_places(command: str) -> str:
    """The command with quotes around its own variables, which people leave out: a path may have blanks in it."""
    return re.sub(_QUOTED_OR_PLACE, lambda found: f'"{found[1]}"' if found[1] else found[0], command)


_NAMES = "|".join((*PROJECT_VARIABLES, SESSION_VARIABLE))
# Quoted text and escaped characters are passed over.
_QUOTED_OR_PLACE = rf"(?s)'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(\$\{{(?:{_NAMES})\}}|\$(?:{_NAMES})(?!\w))"


def _carried_on(fields: JsonObject, outcome: Outcome) -> JsonObject:
    """What the next hooks are told: a call as it was rewritten, a prompt with what was added to it."""
    changed: dict[str, JsonValue] = dict(fields)
    params, prompt = fields.get("tool_input"), fields.get("prompt")
    if outcome.hook.event is HookEvent.BEFORE_TOOL and isinstance(params, Mapping):
        changed["tool_input"] = rewritten(params, outcome)
    if outcome.hook.event is HookEvent.BEFORE_AGENT and isinstance(prompt, str) and outcome.context:
        changed["prompt"] = f"{prompt}\n\n{outcome.context}"
    return changed

"""Puts an agent together: the ground, the tools, a model, the context and a session."""

import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.ground import Ground, survey
from tejat.app.house import ModelSide, sandbox_mode
from tejat.app.prompts import Prompts
from tejat.app.tools import ToolSession, Workshop, open_workshop
from tejat.config.context_files import ContextFiles, find_context_files
from tejat.config.own_file import Writers, read_own_file
from tejat.core.agent_events import Noticed, Severity, Tell
from tejat.core.agent_options import AgentOptions
from tejat.core.confirm import Approver
from tejat.core.errors import ConfigurationError
from tejat.core.history import History, Message
from tejat.core.model import Ability, ModelClient
from tejat.core.sandbox_wish import SandboxWish
from tejat.engine.budget import Budget, Limits
from tejat.engine.compress import Compressor
from tejat.engine.conversation import Care, Conversation, Premises
from tejat.engine.declared import Declared, ManyTools, usual_limit
from tejat.engine.journal import Journal
from tejat.engine.loop_guard import LoopGuard
from tejat.engine.prices import Price, PriceList
from tejat.engine.session import Identity, Session
from tejat.engine.session_files import SessionFiles
from tejat.engine.system_prompt import first_message, system_prompt
from tejat.models import ModelOptions, open_model
from tejat.tools import find_tools_entry
from tejat.workspace.crew import dismiss

if TYPE_CHECKING:
    from tejat.app.foreign import ForeignTools
    from tejat.engine.hooks.session_events import SessionHooks

DEFAULT_MODEL = "gemini-2.5-pro"
_MOMENT = 2.0


@asynccontextmanager
async def open_agent(options: AgentOptions, approver: Approver | None) -> AsyncGenerator[Session]:
    """A session that answers prompts. Without an approver whatever needs an answer is refused.

    Raises UsageError, and ModelFailure when there is no key for the model.
    """
    ground = survey(
        options.directories,
        environment=options.environment,
        trusts_folder=options.trusts_folder,
        excluded_tools=options.excluded_tools,
        servers=options.servers,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(dismiss)
        played = _open_model(options, ground)
        stack.push_async_callback(played.model.close)
        workshop = stack.enter_context(
            open_workshop(
                ground,
                approver,
                allowed_tools=options.allowed_tools,
                mode=options.mode,
                sandbox=options.sandbox,
                tools=options.tools,
                for_model=True,
            )
        )
        session = _session(options, ground, workshop, played, is_headless=approver is None)
        workshop.house.attach(ModelSide(session.ask, lambda: session.conversation.model.abilities))
        foreign = workshop.session.foreign
        if foreign is not None:
            stack.push_async_callback(foreign.close)
            foreign.attach(session.ask)
            await foreign.asking.close()
            foreign.begin()
        stack.push_async_callback(session.close)
        yield session


class _Played(NamedTuple):
    """A model, and which run it belongs to: one that is new, or one that is played again as it was."""

    model: ModelClient
    session_id: str
    recorded_at: float | None = None
    recording_problem: Callable[[], str | None] = lambda: None


def _open_model(options: AgentOptions, ground: Ground) -> _Played:
    session_id = options.session_id or _new_id()
    stand_ins = {
        ground.roots[0]: "${root}",
        ground.places.state: "${state}",
        _today(): "${date}",
    }
    if options.replay is not None:
        from tejat.models.recording import open_replay

        replay = open_replay(options.replay, stand_ins=stand_ins, secrets=ground.secrets)
        began = replay.header.get("began")
        return _Played(replay, str(replay.header.get("session")), began if isinstance(began, int | float) else 0.0)
    model = _named_model(options.model, ground)
    if options.record is not None:
        from tejat.models.recording import Recording

        header = {"session": session_id, "began": round(time.time(), 3)}
        recording = Recording(model, options.record, stand_ins=stand_ins, secrets=ground.secrets, header=header)
        return _Played(recording, session_id, recording_problem=lambda: recording.problem)
    return _Played(model, session_id)


def _named_model(name: str | None, ground: Ground) -> ModelClient:
    settings = ground.settings
    if name is None:
        name = DEFAULT_MODEL if settings.model_name is None else settings.model_name.value
    return open_model(
        name,
        ModelOptions(
            ground.environment,
            attempts=settings.max_attempts.value,
            base_url=None if settings.base_url is None else settings.base_url.value,
            root=ground.roots[0],
        ),
    )


def _new_id() -> str:
    """A random UUID; the module for that takes longer to load than the rest of a session."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _today() -> str:
    """The day where the person is: theirs is the only time zone that counts here."""
    return time.strftime("%A, %B %d, %Y")


def _session(
    options: AgentOptions, ground: Ground, workshop: Workshop, played: _Played, *, is_headless: bool
) -> Session:
    settings, tools, foreign = ground.settings, workshop.session, workshop.session.foreign
    if settings.search_url is None and Ability.GOOGLE_SEARCH not in played.model.abilities:
        tools.registry.unregister("google_web_search")  # nobody could search
    context = context_of(ground)
    beginning = _beginning(options, ground, played)
    declared = Declared(tools.registry, tools.is_forbidden, _many_tools(tools, played.model))
    system = partial(_system, options, ground, declared, is_headless=is_headless)
    # What is played again asks nobody else.
    fallback = None if played.recorded_at is not None else settings.fallback_model
    conversation = Conversation(
        played.model,
        lambda: tools.scheduler,
        History(beginning.messages),
        Premises(system(context), declared, beginning.opening, _instructions(foreign), context, system),
        _care(options, ground),
        journal=beginning.journal,
        fallback=None if fallback is None else partial(_named_model, fallback.value, ground),
        hooks=workshop.hooks,
    )
    session = Session(
        conversation,
        Identity(
            beginning.session_id,
            is_resumed=beginning.is_resumed,
            repairs=beginning.repairs,
            notes=(
                *tools.notes,
                *context.warnings,
                *beginning.problems,
                *_notes_of(workshop.hooks),
            ),
            recorded_at=played.recorded_at,
        ),
        expand=Prompts(ground, workshop).expand,
        journal=beginning.journal,
        problems=partial(_problems, beginning.journal, played, foreign),
        prepare=None if foreign is None else partial(_wait_for, foreign, is_headless=is_headless),
        conclude=None if foreign is None else foreign.asking.close,
        hooks=workshop.hooks,
    )
    if workshop.hooks is not None:
        journal = beginning.journal
        workshop.hooks.belong_to(session.session_id, "" if journal is None else journal.path, session.notice)
    return session


def _many_tools(tools: ToolSession, model: ModelClient) -> ManyTools:
    """Above so many tokens only an index of foreign tools goes to the model."""
    wanted = tools.settings.index_above_tokens

    def limit(tools_of_others: int) -> int | None:
        return usual_limit(model.context_window, tools_of_others) if wanted is None else wanted.value

    return ManyTools(limit, partial(find_tools_entry, tools.registry))


def _instructions(foreign: "ForeignTools | None") -> Callable[[], str] | None:
    if foreign is None:
        return None
    return lambda: "" if foreign.servers is None else foreign.servers.instructions()


async def _wait_for(foreign: "ForeignTools", tell: Tell, *, is_headless: bool) -> None:
    """Wait for foreign tools: without a person as long as it takes, which is limited, else a moment, and only once."""
    foreign.asking.open()
    is_first, foreign.was_awaited = not foreign.was_awaited, True
    late = await foreign.ready(_MOMENT if is_first else 0.0)
    if late and is_headless:
        tell(Noticed(f"Waiting for {', '.join(late)}, which takes a while to start.", Severity.NOTE))
        late = await foreign.ready()
    for message in foreign.news():
        tell(Noticed(message))
    if late and is_first:
        tell(Noticed(f"Still being started: {', '.join(late)}. What it offers will be there later.", Severity.NOTE))


def _notes_of(hooks: "SessionHooks | None") -> tuple[str, ...]:
    return () if hooks is None else hooks.warnings


def _problems(journal: Journal | None, played: "_Played", foreign: "ForeignTools | None") -> list[str]:
    """What of the session could not be kept, and what became of foreign tools while it ran."""
    found = (None if journal is None else journal.failure, played.recording_problem())
    return [*filter(None, found), *(() if foreign is None else foreign.news())]


def _system(
    options: AgentOptions, ground: Ground, declared: Declared, context: ContextFiles, *, is_headless: bool
) -> str:
    """Raises UsageError."""
    return options.system or system_prompt(
        context=context.combined(ground.roots[0]),
        tool_names=[declaration.name for declaration in declared()],
        sandbox="" if sandbox_mode(options.sandbox, ground.settings) is SandboxWish.OFF else "a sandbox",
        is_headless=is_headless,
        replacement=_replacement(ground),
    )


def context_of(ground: Ground) -> ContextFiles:
    """What people wrote for the model, as it is now."""
    settings = ground.settings
    everywhere = settings.load_memory_from_include_directories.value
    return find_context_files(
        home_directory=ground.places.gemini,
        directories=ground.roots if everywhere else ground.roots[:1],
        names=settings.context_file_names.value,
        is_trusted=ground.trust.is_trusted,
        import_format=settings.import_format.value,
        most_directories=settings.discovery_max_directories.value,
    )


def _replacement(ground: Ground) -> str | None:
    """The system prompt that GEMINI_SYSTEM_MD names: a file, or `1` for the project's own. Raises UsageError."""
    word = ground.environment.get("GEMINI_SYSTEM_MD", "").strip()
    if word.lower() in ("", "0", "false"):
        return None
    path = word
    if word.lower() in ("1", "true"):
        if not ground.trust.is_trusted:
            return None
        path = os.path.join(ground.roots[0], ".gemini", "system.md")
    text = read_own_file(os.path.expanduser(path), writers=Writers.ANYBODY)
    if text is None:
        raise ConfigurationError(f"The system prompt that GEMINI_SYSTEM_MD names does not exist: {path}.")
    return text


def _care(options: AgentOptions, ground: Ground) -> Care:
    settings = ground.settings
    own = {name: Price(*price.value) for name, price in settings.prices.items()}
    limits = Limits(
        turns=options.max_turns or settings.max_session_turns.value,
        tokens=options.max_tokens,
        cost=options.max_cost,
        seconds=options.timeout,
    )
    return Care(
        Budget(limits, PriceList(own).price_of),
        LoopGuard(is_on=settings.loop_detection.value),
        Compressor(threshold=settings.compression_threshold.value),
    )


class _Beginning(NamedTuple):
    """Where a session begins: anew, or where it ended the last time."""

    session_id: str
    messages: Sequence[Message]
    opening: int
    journal: Journal | None = None
    is_resumed: bool = False
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _beginning(options: AgentOptions, ground: Ground, played: _Played) -> _Beginning:
    days = ground.settings.session_days.value
    sessions = SessionFiles(ground.places.state, ground.roots[0], days=days, secrets=ground.secrets)
    if options.resume is not None:
        journal, loaded = sessions.resume(sessions.find(options.resume))
        return _Beginning(
            loaded.session_id,
            loaded.messages,
            loaded.opening,
            journal,
            is_resumed=True,
            repairs=loaded.repairs,
            problems=loaded.problems,
        )
    messages = first_message(
        directories=ground.roots,
        today=_today(),
        platform=sys.platform,
        respect_git_ignore=ground.settings.respect_git_ignore.value,
    )
    if not options.keeps_session or played.recorded_at is not None:
        return _Beginning(played.session_id, messages, len(messages))
    sessions.tidy()
    journal = sessions.create(session_id=played.session_id, model=played.model.name)
    journal.opening(messages)
    return _Beginning(played.session_id, messages, len(messages), journal)

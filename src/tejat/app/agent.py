"""Puts an agent together: the ground, the tools, a model, the context and a session."""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.ground import Ground, survey
from tejat.app.house import ModelSide, sandbox_mode
from tejat.app.played import Played, named_model, open_played, today
from tejat.app.prompts import Prompts
from tejat.app.tools import ToolSession, Workshop, open_workshop
from tejat.config.context_files import ContextFiles, find_context_files
from tejat.config.own_file import Writers, read_own_file
from tejat.core.agent_events import Noticed, SessionEnd, SessionSource, Severity, Tell
from tejat.core.agent_options import AgentOptions
from tejat.core.confirm import Approver
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.history import History, Message
from tejat.core.model import Ability, Answer, ModelClient, ModelRequest
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.words import say
from tejat.engine.budget import Budget, Limits
from tejat.engine.compress import Compressor
from tejat.engine.conversation import Care, Conversation, Premises
from tejat.engine.declared import Declared, ManyTools, usual_limit
from tejat.engine.journal import Journal
from tejat.engine.loop_guard import LoopGuard
from tejat.engine.marks import Mark
from tejat.engine.prices import Price, PriceList
from tejat.engine.session import Identity, Session
from tejat.engine.session_files import SessionEntry, SessionFiles
from tejat.engine.system_prompt import first_message, system_prompt
from tejat.tools import find_tools_entry
from tejat.workspace.crew import dismiss

if TYPE_CHECKING:
    from tejat.app.foreign import ForeignTools
    from tejat.engine.hooks.session_events import SessionHooks

_MOMENT = 2.0
_SEARCH = "google_web_search"


@asynccontextmanager
async def open_agent(options: AgentOptions, approver: Approver | None) -> AsyncGenerator[Session]:
    """A session that answers prompts. Without an approver whatever needs an answer is refused.

    Raises UsageError, and ModelFailure when there is no key for the model.
    """
    async with open_succession(options, approver) as succession:
        yield succession.session


@asynccontextmanager
async def open_succession(options: AgentOptions, approver: Approver | None) -> "AsyncGenerator[Succession]":
    """The same, of which one session after the other can be had. Raises as `open_agent` does."""
    ground = survey(
        options.directories,
        environment=options.environment,
        trusts_folder=options.trusts_folder,
        excluded_tools=options.excluded_tools,
        servers=options.servers,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(dismiss)
        played = open_played(options, ground)
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
        succession = Succession(options, ground, workshop, played, is_headless=approver is None)
        foreign = workshop.session.foreign
        if foreign is not None:
            stack.push_async_callback(foreign.close)
            foreign.attach(succession.ask)
            await foreign.asking.close()
            foreign.begin()
        stack.push_async_callback(succession.close)
        yield succession


class Succession:
    """The sessions of one agent, one after the other, on the same tools, servers and model.

    `session` is the one that answers now. What one of them has spent, the next one cannot spend again.
    """

    def __init__(
        self, options: AgentOptions, ground: Ground, workshop: Workshop, played: Played, *, is_headless: bool
    ) -> None:
        """Raises UsageError where the session that is to be taken up cannot be had."""
        self.options = options
        self.ground = ground
        self.workshop = workshop
        self.played = played
        self._is_headless = is_headless
        self._search = workshop.session.registry.entry(_SEARCH)
        self._budget = _budget(options, ground)
        self.fit_tools_to(played.model)
        notes = (*workshop.session.notes, *_notes_of(workshop.hooks))
        self.session = self._made(_first(options, ground, played), played.model, notes)
        self._introduce()
        workshop.house.attach(ModelSide(self.ask, lambda: self.session.conversation.model.abilities))

    async def ask(self, request: ModelRequest) -> Answer:
        """A question on the side to the model of the session. Raises ModelFailure."""
        return await self.session.ask(request)

    async def change(self, beginning: "Beginning", reason: SessionEnd) -> None:
        """Go on with another session. Raises UsageError, and keeps this one, while it is busy."""
        before = self.session
        if before.is_busy:
            if beginning.journal is not None:
                beginning.journal.close()
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        after = self._made(beginning, before.conversation.model, ())
        try:
            await before.end(reason)
        finally:
            self.session = after
            self._introduce()

    def fit_tools_to(self, model: ModelClient) -> None:
        """Searching is offered only where somebody can search."""
        registry = self.workshop.session.registry
        if self.ground.settings.search_url is not None or Ability.GOOGLE_SEARCH in model.abilities:
            if self._search is not None and _SEARCH not in registry:
                registry.register_entry(self._search)
        else:
            registry.unregister(_SEARCH)

    async def close(self) -> None:
        await self.session.close()

    def _made(self, beginning: "Beginning", model: ModelClient, notes: tuple[str, ...]) -> Session:
        ground, workshop, options = self.ground, self.workshop, self.options
        tools, foreign = workshop.session, workshop.session.foreign
        context = context_of(ground)
        conversation: Conversation | None = None

        def window() -> int:
            return (model if conversation is None else conversation.model).context_window

        declared = Declared(tools.registry, tools.is_forbidden, _many_tools(tools, window))
        system = partial(_system, options, ground, declared, is_headless=self._is_headless)
        conversation = Conversation(
            model,
            lambda: tools.scheduler,
            History(beginning.messages),
            Premises(system(context), declared, beginning.opening, _instructions(foreign), context, system),
            _care(self._budget, ground),
            journal=beginning.journal,
            fallback=self._fallback(model),
            hooks=workshop.hooks,
            marks=beginning.marks,
        )
        return Session(
            conversation,
            Identity(
                beginning.session_id,
                source=beginning.source,
                is_resumed=beginning.source is SessionSource.RESUME,
                repairs=beginning.repairs,
                notes=(*notes, *context.warnings, *beginning.problems),
                recorded_at=self.played.recorded_at,
            ),
            expand=Prompts(ground, workshop).expand,
            journal=beginning.journal,
            problems=partial(_problems, beginning.journal, self.played, foreign),
            prepare=None if foreign is None else partial(_wait_for, foreign, is_headless=self._is_headless),
            conclude=None if foreign is None else foreign.asking.close,
            hooks=workshop.hooks,
        )

    def _fallback(self, model: ModelClient) -> Callable[[], ModelClient] | None:
        """What is played again asks nobody else."""
        other = self.ground.settings.fallback_model
        if other is None or other.value == model.name or self.played.recorded_at is not None:
            return None
        return partial(named_model, other.value, self.ground)

    def _introduce(self) -> None:
        """Tell the others whose session it is now."""
        session = self.session
        self.workshop.house.session_id = session.session_id
        if self.workshop.hooks is not None:
            self.workshop.hooks.belong_to(session.session_id, session.journal_path, session.notice)


def _many_tools(tools: ToolSession, window: Callable[[], int]) -> ManyTools:
    """Above so many tokens only an index of foreign tools goes to the model."""
    wanted = tools.settings.index_above_tokens

    def limit(tools_of_others: int) -> int | None:
        return usual_limit(window(), tools_of_others) if wanted is None else wanted.value

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
        told = say("Waiting for {names}, which takes a while to start.", names=", ".join(late))
        tell(Noticed(told, Severity.NOTE))
        late = await foreign.ready()
    for message in foreign.news():
        tell(Noticed(message))
    if late and is_first:
        told = say("Still being started: {names}. What it offers will be there later.", names=", ".join(late))
        tell(Noticed(told, Severity.NOTE))


def _notes_of(hooks: "SessionHooks | None") -> tuple[str, ...]:
    return () if hooks is None else hooks.warnings


def _problems(journal: Journal | None, played: Played, foreign: "ForeignTools | None") -> list[str]:
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
        raise ConfigurationError(
            say("The system prompt that GEMINI_SYSTEM_MD names does not exist: {path}.", path=path)
        )
    return text


def _budget(options: AgentOptions, ground: Ground) -> Budget:
    own = {name: Price(*price.value) for name, price in ground.settings.prices.items()}
    limits = Limits(
        turns=options.max_turns or ground.settings.max_session_turns.value,
        tokens=options.max_tokens,
        cost=options.max_cost,
        seconds=options.timeout,
    )
    return Budget(limits, PriceList(own).price_of)


def _care(budget: Budget, ground: Ground) -> Care:
    settings = ground.settings
    return Care(
        budget,
        LoopGuard(is_on=settings.loop_detection.value),
        Compressor(threshold=settings.compression_threshold.value),
    )


class Beginning(NamedTuple):
    """Where a session begins: anew, or where it ended the last time."""

    session_id: str
    messages: Sequence[Message]
    opening: int
    journal: Journal | None = None
    source: SessionSource = SessionSource.STARTUP
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()


def _first(options: AgentOptions, ground: Ground, played: Played) -> Beginning:
    """Raises UsageError."""
    if options.resume is not None:
        sessions = sessions_of(ground)
        return taken_up(sessions, sessions.find(options.resume))
    keeps_session = options.keeps_session and played.recorded_at is None
    return anew(ground, played.session_id, model=played.model.name if keeps_session else None)


def sessions_of(ground: Ground) -> SessionFiles:
    days = ground.settings.session_days.value
    return SessionFiles(ground.places.state, ground.roots[0], days=days, secrets=ground.secrets)


def taken_up(sessions: SessionFiles, entry: SessionEntry) -> Beginning:
    """The end of an earlier session. Raises UsageError."""
    journal, loaded = sessions.resume(entry)
    return Beginning(
        loaded.session_id,
        loaded.messages,
        loaded.opening,
        journal,
        source=SessionSource.RESUME,
        repairs=loaded.repairs,
        problems=loaded.problems,
        marks=loaded.marks,
    )


def anew(
    ground: Ground, session_id: str, *, model: str | None, source: SessionSource = SessionSource.STARTUP
) -> Beginning:
    """A new session, kept if the model is named that it begins with."""
    messages = first_message(
        directories=ground.roots,
        today=today(),
        platform=sys.platform,
        respect_git_ignore=ground.settings.respect_git_ignore.value,
    )
    if model is None:
        return Beginning(session_id, messages, len(messages), source=source)
    sessions = sessions_of(ground)
    sessions.tidy()
    journal = sessions.create(session_id=session_id, model=model)
    journal.opening(messages)
    return Beginning(session_id, messages, len(messages), journal, source=source)

"""The skills of a run: found once, activated on demand, kept in the state of the session."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tejat.app.run_config import RunConfig
from tejat.app.skills.consent import SkillConsent
from tejat.app.skills.notices import new_catalogue_note
from tejat.config.skills.discovery import SkillLibrary, find_skills
from tejat.config.skills.places import skill_places
from tejat.config.skills.skill import Skill
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagents import current_agent
from tejat.core.approval.confirmation import Confirmation, InfoConfirmation, Scope
from tejat.core.errors import ConfigurationError, ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonValue
from tejat.core.provenance import Party
from tejat.core.tools.base import ToolResult
from tejat.engine.prompt.skill_catalogue import ListedSkill, SkillCatalogue, build_catalogue, catalogue_budget
from tejat.tools.activate_skill import ActivateSkillTool
from tejat.tools.registry import ToolEntry, entry_for
from tejat.workspace.threads.offload import run_blocking

if TYPE_CHECKING:
    from tejat.config.skills.content import SkillContent

STATE_KEY = "skills"
MAX_CARRIED_TOKENS = 20_000
"""The tokens of active skills that a summary keeps."""

_RANKS = {Party.BUILT_IN: 0, Party.EXTENSION: 1, Party.MACHINE: 2, Party.USER: 3, Party.PROJECT: 4}


class ActiveSkill(Frozen):
    """A skill whose instructions are in the conversation, as they were when it was activated."""

    skill: Skill
    content: "SkillContent"
    text: str

    @property
    def tokens(self) -> int:
        return estimate_text_tokens(self.text)

    def to_json(self) -> JsonValue:
        return {
            "name": self.skill.call_name,
            "source": self.skill.path,
            "digest": self.content.digest,
            "tokens": self.tokens,
        }


class ConversationText(Protocol):
    """The conversation of a session, as far as skills look at it."""

    @property
    def length(self) -> int: ...

    def contains(self, text: str) -> bool: ...


class SkillHost(Protocol):
    """What skills need of the services of a session."""

    can_ask: bool
    history: ConversationText | None

    def session_state(self) -> SessionState: ...

    def show_read_only(self, directory: str) -> None: ...


def open_skills(run_config: RunConfig, host: SkillHost) -> "SkillService":
    """The skills of the run that these services belong to."""
    return SkillService(
        run_config,
        state=host.session_state,
        show=host.show_read_only,
        can_ask=host.can_ask,
        history=lambda: host.history,
    )


class SkillService:
    """The skills of a run. `state` returns the state of the current session, None before there is one.

    With `can_ask` there is a user to ask. `show` makes a directory readable for tools and commands. `history` finds
    out whether a text is still in the conversation. What a sub-agent activates is its own. The skills are looked for on
    first use, in whatever thread that is.
    """

    def __init__(
        self,
        run_config: RunConfig,
        *,
        state: Callable[[], SessionState | None],
        show: Callable[[str], None],
        can_ask: bool,
        history: Callable[[], ConversationText | None] = lambda: None,
    ) -> None:
        self._run_config = run_config
        self._current_state = state
        self._show = show
        self.consent = SkillConsent(run_config, can_ask=can_ask)
        self._history = history
        self._in_agents: dict[str, dict[str, SkillContent]] = {}
        self._added_at: dict[str, int] = {}
        self._notices: list[str] = []
        self._library: SkillLibrary | None = None
        self._library_lock = threading.Lock()
        self._state: SessionState | None = None
        self._active: dict[str, ActiveSkill] = {}
        self.lapsed: tuple[str, ...] = ()
        """Skills of a resumed session that have changed since they were activated."""

    @property
    def library(self) -> SkillLibrary:
        with self._library_lock:
            if self._library is None:
                self._library = load_library(self._run_config)
            return self._library

    def reload(self, run_config: RunConfig | None = None) -> tuple[frozenset[str], frozenset[str]]:
        """Look for skills again, and return the names that came and those that went."""
        before = {skill.call_name for skill in self.library.skills}
        if run_config is not None:
            self.use_configuration(run_config)
        self._library = load_library(self._run_config)
        after = {skill.call_name for skill in self._library.skills}
        return frozenset(after - before), frozenset(before - after)

    def use_configuration(self, run_config: RunConfig) -> None:
        """Look for skills again, in the places of another configuration."""
        self._run_config = self.consent.run_config = run_config
        self._library = None

    def tool_entry(self) -> ToolEntry | None:
        """The tool for the skills that the model may activate, None if there are none."""
        names = [skill.call_name for skill in self.library.catalogue]
        return entry_for(ActivateSkillTool(names, self)) if names else None

    def catalogue(self, window: int) -> SkillCatalogue:
        """The section of the system prompt for a context window of this size."""
        listed = [
            ListedSkill(skill.call_name, skill.fields.description, _RANKS[skill.provenance.party])
            for skill in self.library.catalogue
        ]
        self._restore()
        limit = self._run_config.settings.skills_catalog_tokens.value
        return build_catalogue(listed, budget=catalogue_budget(window, limit), lapsed=self.lapsed)

    def catalogue_text(self, window: int) -> str:
        """The section, with a notice for the user, once, if it does not show everything."""
        catalogue = self.catalogue(window)
        if new_catalogue_note(self._run_config.paths, catalogue.note):
            self._notices.append(catalogue.note)
        return catalogue.text

    def take_notices(self) -> list[str]:
        """The notices for the user since the last call."""
        notices, self._notices = self._notices, []
        return notices

    @property
    def active(self) -> Mapping[str, ActiveSkill]:
        """The active skills of the session by name, the last used one last."""
        self._restore()
        return self._active

    def active_content(self, skill: Skill) -> "SkillContent | None":
        """The content of a skill as the current agent activated it, None if it did not."""
        if agent := current_agent():
            own = self._in_agents.get(agent, {}).get(skill.call_name)
            if own is not None:
                return own
        active = self.active.get(skill.call_name)
        return None if active is None or active.skill.path != skill.path else active.content

    async def propose(self, name: str) -> InfoConfirmation | None:
        """What the user is asked before the skill is loaded, None for nothing. Raises ToolFailure."""
        from tejat.app.skills.activation import render_question

        skill = self._find(name)
        content = await run_blocking(lambda _stop: self._read(skill))
        if self._is_active(skill, content) or not self.consent.needs_question(skill, content):
            return None
        return render_question(skill, content, offers_tools=self.consent.may_offer_tools(skill))

    async def activate(self, name: str, approved: Confirmation | None) -> ToolResult:
        """Load a skill, exactly as it was approved. Raises ToolFailure."""
        from tejat.app.skills.activation import already_active, render_activation
        from tejat.app.skills.usage import record_use

        skill = self._find(name)
        content = await run_blocking(lambda _stop: self._read(skill))
        if isinstance(approved, InfoConfirmation) and approved.digest not in ("", content.digest):
            raise ToolFailure(
                lazy("The skill {name} changed after it was approved.", name=skill.call_name), ErrorType.STALE_FILE
            )
        if self._is_active(skill, content):
            if not current_agent():
                self._add(self._active[skill.call_name])
            return already_active(skill)
        self._show(skill.directory)
        text = render_activation(skill, content)
        self.consent.add_activation(skill, content, approved)
        record_use(self._run_config.paths, skill)
        if agent := current_agent():
            self._in_agents.setdefault(agent, {})[skill.call_name] = content
        else:
            self._add(ActiveSkill(skill, content, text))
            self._added_at[skill.call_name] = self._history_length()
        return ToolResult(text, self._display(skill, content))

    def agreement(self, confirmation: Confirmation) -> str | None:
        """What an "always" would save, None if it cannot be saved."""
        return self.consent.agreement(confirmation)

    def remember(self, confirmation: Confirmation, scope: Scope) -> None:
        """Save an "always" for what was shown. Raises UsageError."""
        self.consent.remember(confirmation, scope)

    def carried_text(self) -> str:
        """The active skills for the model after a summary, the last used first, as far as they fit.

        The others are named. `drop_uncarried` makes them inactive.
        """
        kept, dropped = self._fitting()
        texts = [active.text for active in kept]
        if dropped:
            names = ", ".join(active.skill.call_name for active in dropped)
            texts.append(f"These skills are not active any more. Activate them again if you need them: {names}")
        return "\n\n".join(texts)

    def drop_uncarried(self) -> None:
        """Make the skills inactive that did not fit behind a summary."""
        kept, dropped = self._fitting()
        if dropped:
            self._active = {active.skill.call_name: active for active in reversed(kept)}
            self._save()

    def _fitting(self) -> tuple[list[ActiveSkill], list[ActiveSkill]]:
        """The active skills that fit behind a summary, the last used first, and the others."""
        kept: list[ActiveSkill] = []
        dropped: list[ActiveSkill] = []
        left = MAX_CARRIED_TOKENS
        for active in reversed(tuple(self.active.values())):
            fits = active.tokens <= left
            left -= active.tokens if fits else 0
            (kept if fits else dropped).append(active)
        return kept, dropped

    def _find(self, name: str) -> Skill:
        """Raises ToolFailure."""
        skill = self.library.find(name)
        if skill is None:
            names = ", ".join(each.call_name for each in self.library.catalogue) or "none"
            raise ToolFailure(f'Skill "{name}" not found. Available skills are: {names}', ErrorType.INVALID_TOOL_PARAMS)
        return skill

    def _read(self, skill: Skill) -> "SkillContent":
        try:
            return self.consent.read(skill)
        except ConfigurationError as error:
            raise ToolFailure(str(error), ErrorType.EXECUTION_FAILED) from None

    def _is_active(self, skill: Skill, content: "SkillContent") -> bool:
        """Whether this content is in the conversation, and no summary or rewind has dropped it."""
        from tejat.app.skills.activation import activation_mark

        if agent := current_agent():
            return self._in_agents.get(agent, {}).get(skill.call_name) == content
        active = self.active.get(skill.call_name)
        if active is None or active.content != content or active.skill.path != skill.path:
            return False
        history = self._history()
        is_new = self._added_at.get(skill.call_name) == self._history_length()  # its result is added after the call
        return history is None or is_new or history.contains(activation_mark(skill))

    def _history_length(self) -> int:
        history = self._history()
        return 0 if history is None else history.length

    def _add(self, active: ActiveSkill) -> None:
        """Make a skill the last used one."""
        name = active.skill.call_name
        self._active.pop(name, None)
        self._active[name] = active
        self.lapsed = tuple(each for each in self.lapsed if each != name)
        self._save()

    def _save(self) -> None:
        if self._state is not None:
            self._state.set(STATE_KEY, [active.to_json() for active in self._active.values()])

    def _restore(self) -> None:
        """Take over the active skills of the current session, if it is another one than before."""
        state = self._current_state()
        if state is None or state is self._state:
            return
        self._state, self._active, lapsed = state, {}, list[str]()
        for name, source, digest in _recorded_skills(state.get(STATE_KEY)):
            skill = self.library.find(name)
            content = None if skill is None or skill.path != source else self._read_unchanged(skill, digest)
            if skill is None or content is None:
                lapsed.append(name)
                continue
            from tejat.app.skills.activation import render_activation

            self._show(skill.directory)
            self._active[name] = ActiveSkill(skill, content, render_activation(skill, content))
        self.lapsed = tuple(lapsed)
        if lapsed:
            self._save()

    def _read_unchanged(self, skill: Skill, digest: str) -> "SkillContent | None":
        try:
            content = self.consent.read(skill)
        except ConfigurationError:
            return None
        return content if content.digest == digest else None

    def _display(self, skill: Skill, content: "SkillContent") -> str:
        source = self._run_config.paths.abbreviate(skill.directory)
        lines = [lazy("Skill {name} activated ({source}).", name=skill.call_name, source=source)]
        return "\n".join((*lines, *sorted(content.sizes)))


def load_library(run_config: RunConfig, *, uses_cache: bool = True) -> SkillLibrary:
    """Find the skills of a run. None if skills are switched off."""
    settings, trust = run_config.settings, run_config.trust
    if not settings.skills_enabled.value or not settings.skills_switch.value:
        return SkillLibrary()
    return find_skills(
        run_config.paths,
        skill_places(
            run_config.paths, run_config.roots[0], is_trusted=trust.is_trusted, extensions=run_config.extensions
        ),
        disabled=[entry.value for entry in settings.skills_disabled],
        pins={item.path: item.digest for item in trust.items},
        uses_cache=uses_cache,
    )


def _recorded_skills(value: JsonValue) -> list[tuple[str, str, str]]:
    """Name, source and digest of the active skills of a session."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    found: list[tuple[str, str, str]] = []
    for entry in value:
        if isinstance(entry, Mapping):
            parts = entry.get("name"), entry.get("source"), entry.get("digest")
            if all(isinstance(part, str) for part in parts):
                found.append((str(parts[0]), str(parts[1]), str(parts[2])))
    return found

"""The base class of slash commands and the context they run in.

Names, summaries and usages are in `builtin`, so that no command is loaded to list it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tejat.app.commands.builtin import builtin_names
from tejat.app.run_config import RunConfig
from tejat.app.session.manager import SessionManager
from tejat.app.session.preferences import preferences_from_settings
from tejat.app.session.status import current_mode
from tejat.app.tools.toolset import Toolset
from tejat.config.custom_commands import CustomCommands, find_custom_commands
from tejat.config.paths import SourceTier
from tejat.config.settings.destination import UserSettings
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.status import Preferences
from tejat.engine.loop.conversation import Conversation
from tejat.engine.sessions.session import Session
from tejat.engine.sessions.statistics import Statistics
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.mcp.manager import McpManager
    from tejat.engine.calls.permission import Permission


class CommandContext:
    """The session as slash commands see it. Its parts may be replaced at any time, so commands never keep one."""

    def __init__(self, manager: SessionManager, statistics: Statistics, preferences: Preferences) -> None:
        self.manager = manager
        self.statistics = statistics
        self.preferences = preferences
        self._custom_commands: tuple[RunConfig, CustomCommands] | None = None

    @property
    def run_config(self) -> RunConfig:
        return self.manager.run_config

    @property
    def toolset(self) -> Toolset:
        return self.manager.toolset

    @property
    def session(self) -> Session:
        """The current session."""
        return self.manager.session

    @property
    def conversation(self) -> Conversation:
        return self.session.conversation

    @property
    def registry(self) -> ToolRegistry:
        return self.toolset.registry

    @property
    def mcp_manager(self) -> "McpManager | None":
        return self.toolset.mcp_manager

    @property
    def mode(self) -> str:
        """The approval mode in force."""
        return current_mode(self.manager)

    @property
    def user_settings(self) -> UserSettings:
        """The settings files of the user."""
        return UserSettings(self.run_config.paths)

    def load_permission(self) -> "Permission":
        """The permission check of the session, with its policy loaded. Raises UsageError for a broken rule."""
        return self.toolset.start_scheduler().permission

    @property
    def custom_commands(self) -> CustomCommands:
        """The custom commands, read once per configuration, as the session does."""
        run_config = self.run_config
        if self._custom_commands is None or self._custom_commands[0] is not run_config:
            found = find_custom_commands(
                run_config.paths, run_config.roots[0], run_config.trust, run_config.extensions, builtin_names()
            )
            self._custom_commands = (run_config, found)
        return self._custom_commands[1]

    def reload_custom_commands(self) -> None:
        """Read the custom commands again, here and for the prompts of the session."""
        self._custom_commands = None
        self.manager.prompt_expander.reload_commands()

    def require_idle(self) -> None:
        """Raise UsageError while the model is at work."""
        if self.session.is_busy:
            raise UsageError(_("The model is still working. Press Esc to stop it, or wait until it is done."))

    def reload_settings(self) -> Settings:
        """Load the settings as the files are now, with the themes of extensions. Raises UsageError.

        The session keeps those it began with.
        """
        config = self.run_config
        settings = load_settings(
            config.paths,
            config.roots[:1],
            trusted=config.trust.is_trusted,
            environment=config.environment,
            project_variables=config.project_variables,
        )
        themes = config.settings.custom_themes
        added = {name: theme for name, theme in themes.items() if theme.tier is SourceTier.EXTENSION}
        return replace(settings, custom_themes={**added, **settings.custom_themes}) if added else settings

    def apply_preferences(self, settings: Settings) -> None:
        """Use the display and input preferences of these settings from now on."""
        self.preferences = preferences_from_settings(settings)


class SlashCommand(ABC):
    """A slash command. It is created when it is first called, and reads the context each time it runs."""

    def __init__(self, context: CommandContext) -> None:
        self.context = context

    @abstractmethod
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction | None:
        """Run with the stripped text after the name. None is `NoAction`.

        Raises TejatError and OSError, which are shown to the user in a sentence.
        """

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        """Completions for the text after the name, as typed."""
        del typed
        return ()


def complete_from(typed: str, options: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    """Completions among words, each with a detail, that begin with what was typed."""
    return [
        CompletionItem(word, len(typed), label=word, detail=detail)
        for word, detail in options
        if word.casefold().startswith(typed.casefold())
    ]

"""What slash commands see of the desk that they are called at."""

import os
from collections.abc import Callable, Sequence
from functools import partial

from tejat.app.preferences import preferences_from_settings
from tejat.app.run_config import RunConfig
from tejat.app.session.manager import SessionManager
from tejat.app.tools.toolset import Toolset
from tejat.config.files.reader import AllowedWriters
from tejat.config.settings.editor import edit_settings, remove_member, set_member
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings
from tejat.core.messages.types import JsonValue
from tejat.core.ui.status import Preferences
from tejat.engine.sessions.session import Session
from tejat.engine.sessions.statistics import Statistics


class CommandContext:
    """The parts of one desk. Whoever owns it may exchange each of them, so nobody keeps one for long."""

    def __init__(self, manager: SessionManager, statistics: Statistics, preferences: Preferences) -> None:
        self.manager = manager
        self.statistics = statistics
        self.preferences = preferences

    @property
    def run_config(self) -> RunConfig:
        return self.manager.run_config

    @property
    def toolset(self) -> Toolset:
        return self.manager.toolset

    @property
    def session(self) -> Session:
        """The one that answers now."""
        return self.manager.session

    @property
    def settings_path(self) -> str:
        """The file with the settings of the person."""
        return os.path.join(self.run_config.paths.gemini, "settings.json")

    def save_setting(self, names: Sequence[str], given: JsonValue) -> None:
        """Write a setting into the person's own settings, and change nothing else there.

        Raises SettingsError for a file that is broken, UsageError and OSError where it cannot be written.
        """
        self._edit(partial(set_member, names=tuple(names), given=given))

    def remove_setting(self, names: Sequence[str]) -> None:
        """Take a setting out of them. Raises as `keep` does."""
        self._edit(partial(remove_member, names=tuple(names)))

    def reload_settings(self) -> Settings:
        """What the files say by now; the session goes by what they said when it began. Raises UsageError."""
        run_config = self.run_config
        return load_settings(
            run_config.paths,
            run_config.roots[:1],
            trusted=run_config.trust.is_trusted,
            environment=run_config.environment,
        )

    def apply_preferences(self, settings: Settings) -> None:
        """See and type things as these settings say, from now on."""
        self.preferences = preferences_from_settings(settings)

    def _edit(self, change: Callable[[str], str]) -> None:
        edit_settings(self.run_config.paths, self.settings_path, change, writers=AllowedWriters.TRUSTED)

"""What slash commands see of the desk that they are called at."""

import os
from collections.abc import Callable, Sequence
from functools import partial

from tejat.app.agent import Succession
from tejat.app.ground import Ground
from tejat.app.preferences import preferences_of
from tejat.app.tools import Workshop
from tejat.config.load import load_settings
from tejat.config.own_file import Writers
from tejat.config.settings import Settings
from tejat.config.settings_edit import edit_settings, with_member, without_member
from tejat.core.status import Preferences
from tejat.core.types import JsonValue
from tejat.engine.session import Session
from tejat.engine.statistics import Statistics


class DeskParts:
    """The parts of one desk. Whoever owns it may exchange each of them, so nobody keeps one for long."""

    def __init__(self, succession: Succession, statistics: Statistics, preferences: Preferences) -> None:
        self.succession = succession
        self.statistics = statistics
        self.preferences = preferences

    @property
    def ground(self) -> Ground:
        return self.succession.ground

    @property
    def workshop(self) -> Workshop:
        return self.succession.workshop

    @property
    def session(self) -> Session:
        """The one that answers now."""
        return self.succession.session

    @property
    def settings_path(self) -> str:
        """The file with the settings of the person."""
        return os.path.join(self.ground.places.gemini, "settings.json")

    def keep(self, names: Sequence[str], given: JsonValue) -> None:
        """Write a setting into the person's own settings, and change nothing else there.

        Raises SettingsError for a file that is broken, UsageError and OSError where it cannot be written.
        """
        self._edit(partial(with_member, names=tuple(names), given=given))

    def forget(self, names: Sequence[str]) -> None:
        """Take a setting out of them. Raises as `keep` does."""
        self._edit(partial(without_member, names=tuple(names)))

    def settings_now(self) -> Settings:
        """What the files say by now; the session goes by what they said when it began. Raises UsageError."""
        ground = self.ground
        return load_settings(
            ground.places, ground.roots[:1], trusted=ground.trust.is_trusted, environment=ground.environment
        )

    def take_preferences(self, settings: Settings) -> None:
        """See and type things as these settings say, from now on."""
        self.preferences = preferences_of(settings)

    def _edit(self, change: Callable[[str], str]) -> None:
        edit_settings(self.ground.places, self.settings_path, change, writers=Writers.TRUSTED)

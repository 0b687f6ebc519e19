"""What slash commands see of the desk that they are called at."""

import os
from collections.abc import Sequence
from functools import partial

from tejat.app.agent import Succession
from tejat.app.ground import Ground
from tejat.app.tools import Workshop
from tejat.config.own_file import Writers
from tejat.config.settings_edit import edit_settings, with_member
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
        change = partial(with_member, names=tuple(names), given=given)
        edit_settings(self.ground.places, self.settings_path, change, writers=Writers.TRUSTED)

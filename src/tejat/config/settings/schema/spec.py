"""The row of a setting in the schema."""

from typing import NamedTuple

from tejat.config.settings.file import SettingKey
from tejat.config.settings.merge import MergeSetting, last_wins
from tejat.config.settings.reader import ParseSetting


class SettingSpec(NamedTuple):
    """A setting: its field in `Settings`, its key with the older names, its parser and its merge strategy.

    `protects` is for a setting whose loss would make a run less safe, `must_be_valid` for others that a run cannot do
    without: a wrong value of either ends the run; for all others the default holds and the value is reported.
    `restricts` is for a setting that even an untrusted project may set, `is_text` for one that an empty text leaves
    unset, as in Gemini CLI.
    """

    field: str
    key: SettingKey
    read: ParseSetting
    merge: MergeSetting = last_wins
    protects: bool = False
    must_be_valid: bool = False
    restricts: bool = False
    is_text: bool = False

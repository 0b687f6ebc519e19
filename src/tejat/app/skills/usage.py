"""When skills were last activated, so that those that nobody uses can be named."""

import time
from collections.abc import Iterable
from contextlib import suppress

from tejat.config.files.parse_cache import ParseCache
from tejat.config.paths import AppPaths
from tejat.config.skills.skill import Skill

UNUSED_DAYS = 30
_VERSION = "1"


def record_use(paths: AppPaths, skill: Skill) -> None:
    """Remember that a skill was activated now. Raises nothing."""
    with suppress(OSError):
        store = ParseCache(paths.skill_use, version=_VERSION)
        store.put(skill.path, "", int(time.time()))
        store.save()


def last_uses(paths: AppPaths, skills: Iterable[Skill]) -> dict[str, int]:
    """The time of the last activation by SKILL.md, in seconds; those that never were are missing."""
    store = ParseCache(paths.skill_use, version=_VERSION)
    found = {skill.path: store.get(skill.path, "") for skill in skills}
    return {path: when for path, when in found.items() if isinstance(when, int)}

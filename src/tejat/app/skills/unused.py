"""Skills that cost tokens although nobody activates them."""

import time

from tejat.app.run_config import RunConfig
from tejat.app.skills.reports import catalogue_tokens
from tejat.app.skills.service import load_library
from tejat.app.skills.usage import UNUSED_DAYS, last_uses
from tejat.core.frozen import Frozen


class UnusedSkills(Frozen):
    """Skills in the catalogue that were not activated for days, and the tokens they take in every request."""

    names: tuple[str, ...]
    tokens: int
    days: int = UNUSED_DAYS


def unused_skills(run_config: RunConfig) -> UnusedSkills:
    """The skills of a run that nobody has activated lately."""
    catalogue = load_library(run_config).catalogue
    last = last_uses(run_config.paths, catalogue)
    since = time.time() - UNUSED_DAYS * 24 * 3600
    unused = [skill for skill in catalogue if last.get(skill.path, 0) < since]
    return UnusedSkills(tuple(skill.call_name for skill in unused), sum(map(catalogue_tokens, unused)))

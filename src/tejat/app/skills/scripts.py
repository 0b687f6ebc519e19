"""Scripts of active skills in command lines."""

import os
import re
from collections.abc import Mapping, Sequence

from tejat.app.skills.service import ActiveSkill
from tejat.config.skills.content import is_changed_file
from tejat.core.text.paths import is_beneath
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.types import SkillScript

# Programs that run a script which is one of their arguments.
_INTERPRETER = re.compile(r"(?:ba|z|k|da)?sh|python[0-9.]*|pypy[0-9.]*|node|bun|deno|perl|ruby|php|Rscript|uv|env")


def scripts_in_line(active: Mapping[str, ActiveSkill], line: CommandLine, directory: str) -> tuple[SkillScript, ...]:
    """The scripts of active skills that a command line in this directory would run."""
    found: dict[str, SkillScript] = {}
    for word in [word for command in line.commands for word in _script_words(command.words)] if active else ():
        path = os.path.realpath(os.path.join(directory, os.path.expanduser(word)))
        for name, skill in active.items():
            top = os.path.realpath(skill.skill.directory)
            if path != top and is_beneath(path, top) and os.path.isfile(path):
                is_changed = is_changed_file(top, skill.content.files, os.path.relpath(path, top))
                found[path] = SkillScript(name, path, is_unchanged=not is_changed)
    return tuple(found.values())


def _script_words(words: Sequence[str]) -> list[str]:
    if not words:
        return []
    named = words[1:] if _INTERPRETER.fullmatch(os.path.basename(words[0])) else words[:1]
    return [word for word in named if not word.startswith("-") and "\0" not in word]

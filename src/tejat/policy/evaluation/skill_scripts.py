"""Commands that run scripts of skills, and which of them a rule may allow."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.core.text.secret_files import is_secret_file
from tejat.policy.effects.command import command_effects
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.rules.matcher import matches_skill
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import word_set
from tejat.policy.types import PolicyRule, SkillScript

SHELL_INTERPRETERS = word_set("sh bash dash zsh ksh")
_INTERPRETER = re.compile(r"(?:python|pypy)(?:[23](?:\.[0-9]+)?)?|node|perl|ruby")
# A script that hands its arguments to a shell would run what stands behind one of these.
_SHELL_SIGN = re.compile(r"[;|&$`<>\\\n\r\0]")


class _ScriptCall(Frozen):
    """A command taken apart: the interpreter, empty without one, the word of the script, and its arguments."""

    interpreter: str
    script: str
    arguments: tuple[str, ...]


def is_script_interpreter(name: str) -> bool:
    """Return whether a program runs the file that it is given, and obeys no other file of the working directory."""
    return name in SHELL_INTERPRETERS or _INTERPRETER.fullmatch(name) is not None


def names_script(rule: PolicyRule, command: ShellCommand, call: ShellCall) -> bool:
    """Return whether a rule that denies or asks about scripts of a skill applies to this command of the line.

    If no command names the script, because the line reads it in another way, it applies to all of them.
    """
    paths = {script.path for script in call.facts.skill_scripts if matches_skill(rule, script.qualified_name)}
    if _names_any(command, paths, call):
        return True
    if not paths:
        return False
    key = frozenset(paths)
    if key not in call.named_paths:
        call.named_paths[key] = any(_names_any(each, paths, call) for each in call.effects)
    return not call.named_paths[key]


def find_started_script(command: ShellCommand, call: ShellCall) -> SkillScript | None:
    """Return the script of a skill that a command starts, whether a rule may allow it or not."""
    outer = _outer_command(command, call)
    parts = None if outer is None else _take_apart(outer)
    places = () if parts is None else call.places(parts.script)
    return next((script for script in call.facts.skill_scripts if script.path in places), None)


def find_script_gap(rule: PolicyRule, command: ShellCommand, call: ShellCall) -> str | None:
    """Return why a rule that allows scripts of a skill does not cover a command of a plain line, None if it does.

    It covers only a script as the user agreed to it: started by its path, or as the first word of an interpreter.
    """
    outer = _outer_command(command, call)
    if outer is None:
        return lazy("it runs through {program}", program=command.wrappers[0])
    parts = _take_apart(outer)
    if parts is None:
        return lazy("it does not start with a script of the skill, or with an interpreter and the script")
    script = _find_script(parts.script, rule, call)
    if isinstance(script, str):
        return script
    other = _find_other_command(outer, call)
    if other is not None:
        return lazy("{name} in the same line may change the script", name=other.name)
    return _find_argument_gap(parts.arguments, script, call) or script.find_doubt(parts.interpreter)


def _outer_command(command: ShellCommand, call: ShellCall) -> ShellCommand | None:
    """Return the command as it is written: `bash SCRIPT` for the script that it is known to run."""
    if not command.wrappers:
        return command
    words = (*command.wrappers, *command.words)
    is_script = len(command.wrappers) == 1 and command.wrappers[0] in SHELL_INTERPRETERS
    return call.unwrapped.get(words) if is_script else None


def _take_apart(command: ShellCommand) -> _ScriptCall | None:
    words = command.words
    if "/" in command.name:
        return _ScriptCall("", command.name, words[1:])
    # An option of an interpreter may change what the script does, or run something else.
    if not is_script_interpreter(command.name) or len(words) < 2 or "/" not in words[1] or words[1].startswith("-"):
        return None
    return _ScriptCall(command.name, words[1], words[2:])


def _find_script(word: str, rule: PolicyRule, call: ShellCall) -> SkillScript | str:
    """Return the script that a word names wherever the line goes, or why it names none."""
    places = call.find_places(word)
    named = [script for script in call.facts.skill_scripts if matches_skill(rule, script.qualified_name)]
    script = next((each for each in named if places and all(real == each.path for _, real in places)), None)
    if places is None or script is None:
        return lazy("{path} may be something else than a script of the skill", path=word)
    # Through a link, a script would find other files beside itself.
    if not all(_is_spelled_directly(written, script) for written, _ in places):
        return lazy("{path} is a link to a script of the skill", path=word)
    return script


def _is_spelled_directly(written: str, script: SkillScript) -> bool:
    """Return whether a path names the script without links below the directory of its skill."""
    below = {script.path[len(directory) :] for directory in script.directories if is_beneath(script.path, directory)}
    return any(f"{directory}{rest}" == written for directory in script.directories for rest in below)


def _find_other_command(outer: ShellCommand, call: ShellCall) -> ShellCommand | None:
    """Return a command besides the script that does more than read, and might change it before it runs."""
    for command, effects in call.effects.items():
        is_own = command == outer or (command.wrappers == outer.words[:1] and command.words == outer.words[1:])
        if not is_own and not effects.is_read_only and command.name != "cd":
            return command
    return None


def _find_argument_gap(arguments: Sequence[str], script: SkillScript, call: ShellCall) -> str | None:
    """Return which argument the user has to see: the script may do anything with it."""
    for word in arguments:
        if _SHELL_SIGN.search(word):
            return lazy("the argument {word!r} contains a character that is special in a shell", word=word)
    # By a name that is not known to skip any of its words.
    for word in command_effects(("script", *arguments)).paths:
        places = call.find_places(word)
        if places is None or not all(_is_within(place, script, call) for pair in places for place in pair):
            return lazy("{path} may be outside the workspace", path=word)
        for place in {place for pair in places for place in pair}:
            if is_secret_file(place):
                return lazy("{path} usually contains secrets", path=word)
            if not is_beneath_any(place, script.directories) and (why := call.control_reason(place)):
                return lazy("{path} is a control file: {why}", path=word, why=why)
    return None


def _is_within(place: str, script: SkillScript, call: ShellCall) -> bool:
    return is_beneath_any(place, (*call.facts.roots, *script.directories))


def _names_any(command: ShellCommand, paths: set[str], call: ShellCall) -> bool:
    return any(place in paths for word in _path_words(command) for place in call.places(word))


def _path_words(command: ShellCommand) -> Iterator[str]:
    yield from command.words
    yield from command_effects(("script", *command.words)).paths

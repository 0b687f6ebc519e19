"""Coverage of commands by rules that allow: only what a rule names explicitly."""

from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath_any
from tejat.policy.effects.command import CommandEffects, command_effects
from tejat.policy.effects.project_commands import find_project_command
from tejat.policy.evaluation.evaluator import network_gap
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.skill_scripts import find_script_gap
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.redirections import written_targets
from tejat.policy.types import PolicyRule


class LineAssessment(Frozen):
    """Whether any rule could allow a shell line: `doubt` says why not."""

    doubt: str | None
    writes_files: bool = False


def assess_line(call: ShellCall) -> LineAssessment:
    """Assess the line as a whole. If it writes to files in the workspace, the rule has to allow redirection."""
    line = call.line
    if line.is_plain and line.commands:
        return LineAssessment(None)
    targets = written_targets(line)
    if not targets:
        return LineAssessment(line.doubts[0] if line.doubts else lazy("it uses shell syntax beyond plain words"))
    outside = call.find_outside(targets)
    if outside is not None or call.other_link_maker(None) is not None:
        path = outside or targets[0]
        return LineAssessment(lazy("it writes to {path}, which may be outside the workspace", path=path))
    return LineAssessment(None, writes_files=True)


def find_coverage_gap(
    rule: PolicyRule, command: ShellCommand, call: ShellCall, assessment: LineAssessment, *, is_enclosed: bool = False
) -> str | None:
    """Return why an applicable rule that allows does not cover this command, None if it does.

    If it `is_enclosed` in the sandbox, it may start a program of the workspace.
    """
    if assessment.doubt:
        return assessment.doubt
    if assessment.writes_files and not rule.allows_redirection:
        return lazy("it writes to a file, which the rule does not allow")
    if call.facts.wants_network and not rule.allows_network:
        return network_gap()
    if rule.skill is not None:
        return find_script_gap(rule, command, call)
    effects = call.effects[command]
    if rule.command is None and rule.arguments is None:
        if not effects.destroys:
            return None
        return lazy("it {effect}, which needs a rule for that command", effect=effects.destroys[0])
    if rule.command is None and len(call.effects) > 1:
        return lazy("a rule with an argument pattern can allow only a single command")
    gap = _find_prefix_gap(_required_words(rule, command), command, effects, call)
    return gap or (None if is_enclosed else _find_program_gap(command, effects, call))


def _required_words(rule: PolicyRule, command: ShellCommand) -> Sequence[str]:
    """Return the words of the rule that the command must begin with.

    A command behind a wrapper is covered by a rule that names both: `env ls`.
    """
    tokens = rule.command or ()
    if not command.wrappers:
        return tokens
    if not tokens or tokens[0] != command.wrappers[0] or command.name not in tokens[1:]:
        return ("",)
    return tokens[tokens.index(command.name, 1) :]


def _find_prefix_gap(
    tokens: Sequence[str], command: ShellCommand, effects: CommandEffects, call: ShellCall
) -> str | None:
    words = command.words
    if tuple(words[: len(tokens)]) != tuple(tokens):
        return lazy("it does not start with the words of the rule")
    named = command_effects(tokens)
    for shown, known in (
        (effects.destroys, named.destroys),
        (effects.writes, named.writes),
        (effects.runs_code, named.runs_code),
    ):
        beyond = [effect for effect in shown if effect not in known] if shown else ()
        if beyond:
            return lazy("it {effect}, which the rule does not mention", effect=beyond[0])
    gap = _find_path_gap(named.paths, command, call)
    if gap is not None:
        return gap
    setting = call.git_program(command) if effects.is_read_only else None
    if setting is not None:
        return lazy("the repository's settings make git run a program ({setting})", setting=setting)
    return None


def _find_program_gap(command: ShellCommand, effects: CommandEffects, call: ShellCall) -> str | None:
    """Return which file of the workspace the command would start.

    Commands that run the project's own code anyway, such as tests, may be installed there.
    """
    if effects.runs_code and find_project_command(command.words) is not None:
        return None
    program = call.facts.programs.get(command.name)
    if program is None or not is_beneath_any(program, call.facts.roots):
        return None
    return lazy("{command} would run {program}, a file in the workspace", command=command.name, program=program)


def _find_path_gap(named: Sequence[str], command: ShellCommand, call: ShellCall) -> str | None:
    """Return which path keeps the command from staying in the workspace; the rule may name one outside."""
    effects = call.effects[command]
    paths = effects.paths
    if named:
        paths = [word for word in paths if word not in named or not call.is_named_outside(word)]
    outside = call.find_outside(paths)
    if outside is not None:
        return lazy("{path} may be outside the workspace", path=outside)
    for word in effects.trees:
        if call.links_outside(word):
            return lazy("{path} may contain links to places outside the workspace", path=word)
    maker = call.other_link_maker(command) if paths and effects.follows_links else None
    if maker is not None:
        return lazy("{name} may create a link that takes {path} out of the workspace", name=maker.name, path=paths[0])
    return None

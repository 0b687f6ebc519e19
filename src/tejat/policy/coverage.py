"""What a rule that allows covers: only what it names, and nothing that it does not show."""

from collections.abc import Sequence

from tejat.core.value import value
from tejat.core.words import phrase
from tejat.policy.command_line import Command
from tejat.policy.effects import Effects, effects_of
from tejat.policy.judge import no_network
from tejat.policy.places import is_inside
from tejat.policy.redirections import written_targets
from tejat.policy.rules import Rule
from tejat.policy.shell_call import ShellCall


@value
class Shape:
    """Whether a rule could allow a shell line at all: `doubt` says in words why not."""

    doubt: str | None
    writes: bool = False


def shape_of(call: ShellCall) -> Shape:
    """What the line as a whole leaves open. A line that writes to files inside needs a rule that says so."""
    line = call.line
    if line.is_plain and line.commands:
        return Shape(None)
    targets = written_targets(line)
    if not targets:
        return Shape(line.doubts[0] if line.doubts else phrase("it is not made of plain words"))
    outside = next((target for target in targets if not call.is_plainly_inside(target)), None)
    if outside is not None:
        return Shape(phrase("it writes to {path}, which is not plainly inside the workspace", path=outside))
    return Shape(None, writes=True)


def gap_in(rule: Rule, command: Command, call: ShellCall, shape: Shape) -> str | None:
    """Why a rule that allows, and concerns the call, does not cover this command. None where it does."""
    if shape.doubt:
        return shape.doubt
    if shape.writes and not rule.redirection:
        return phrase("it writes to a file, and the rule does not say so")
    if call.facts.wants_network and not rule.network:
        return no_network()
    effects = call.effects[command]
    if rule.command is None and rule.arguments is None:
        return (
            phrase("it {effect}, which only a rule for that very command allows", effect=effects.destroys[0])
            if effects.destroys
            else None
        )
    if rule.command is None and len(call.effects) > 1:
        return phrase("a pattern for the arguments does not tell one command of a line from the next")
    return _gap(_tokens(rule, command), command.words, effects, call)


def _tokens(rule: Rule, command: Command) -> Sequence[str]:
    """The words of the rule that have to be the first of the command.

    What stands behind a wrapper is covered by a rule for the wrapper that goes on to name it: `env ls`.
    """
    tokens = rule.command or ()
    if not command.via:
        return tokens
    if not tokens or tokens[0] != command.via[0] or command.name not in tokens[1:]:
        return ("",)
    return tokens[tokens.index(command.name, 1) :]


def _gap(tokens: Sequence[str], words: Sequence[str], effects: Effects, call: ShellCall) -> str | None:
    if tuple(words[: len(tokens)]) != tuple(tokens):
        return phrase("it does not begin with the words of the rule")
    named = effects_of(tokens)
    for shown, known in (
        (effects.destroys, named.destroys),
        (effects.writes, named.writes),
        (effects.runs_code, named.runs_code),
    ):
        beyond = next((effect for effect in shown if effect not in known), None)
        if beyond is not None:
            return phrase("it {effect}, which the rule does not name", effect=beyond)
    unnamed = [word for word in effects.paths if word not in named.paths]
    outside = next((word for word in unnamed if not call.is_plainly_inside(word)), None)
    if outside is not None:
        return phrase("{path} is not plainly inside the workspace", path=outside)
    program = call.facts.programs.get(words[0])
    if program is not None and is_inside(program, call.facts.roots):
        return phrase(
            "{command} would start {program}, which is a file of the workspace", command=words[0], program=program
        )
    return None

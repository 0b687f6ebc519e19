"""The output of examples that were played: `tejat skills validate --run` and `tejat agents validate --run`."""

import os
import sys
from collections.abc import Sequence

from tejat.app.inspection.examples.observer import ObservedCall
from tejat.app.inspection.examples.player import ExampleResult
from tejat.cli.messages import one_line
from tejat.core.i18n import _, translate
from tejat.core.json_text import dump_json
from tejat.ui.plain.style import Style

_MAX_CHARACTERS = 100


def print_examples(results: Sequence[ExampleResult], directory: str) -> None:
    """Print what would be called and asked, and what is not as expected; `directory` is where examples belong."""
    if not results:
        print(
            _(
                "No examples: there is no .toml file in {directory}.",
                directory=one_line(os.path.join(directory, "tests")),
            )
        )
        return
    bold = Style(sys.stdout).bold
    for result in results:
        state = _("passed") if result.passed else _("failed")
        print(f"{bold(one_line(os.path.basename(result.path)))}: {state}")
        for call in result.calls:
            print(f"  {_decision(call):6}  {_describe(call)}")
        for problem in result.problems:
            label = _("problem")
            print(f"  {bold(label)}: {one_line(translate(problem))}")
    passed = sum(result.passed for result in results)
    print(_("{passed} of {all} examples passed", passed=passed, all=len(results)))


def _decision(call: ObservedCall) -> str:
    return "-" if call.decision is None else call.decision.value


def _describe(call: ObservedCall) -> str:
    """The call in one line, with the reply to the question about it."""
    given = call.arguments.get("command") if set(call.arguments) == {"command"} else None
    arguments = given if isinstance(given, str) else dump_json(call.arguments)
    text = one_line(f"{call.tool} {arguments}")
    text = text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}..."
    agent = f"{one_line(call.agent)}: " if call.agent else ""
    reply = "" if call.reply is None else f" ({call.reply.value})"
    return f"{agent}{text}{reply}"

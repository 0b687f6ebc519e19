"""The system prompt of a sub-agent, and what it is told when it must finish."""

import re
from collections.abc import Mapping

from tejat.core.agent.subagents import SubagentEnd
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen
from tejat.engine.prompt.templates import load_template
from tejat.engine.subagents.complete_task import COMPLETE_TASK

_VARIABLE = re.compile(r"\$\{(\w+)\}")

_MODES = {
    ApprovalMode.DEFAULT: "The user is asked about calls that change something, as far as no rule decides.",
    ApprovalMode.AUTO_EDIT: "Edits of files are allowed. The user is asked about other calls that change something.",
    ApprovalMode.YOLO: "All calls that no rule forbids are allowed.",
    ApprovalMode.PLAN: "You are in plan mode: read only. Calls that change something are refused.",
}


class PromptParts(Frozen):
    """What the system prompt is made of besides the definition.

    `skills` is the catalogue of skills, `context` the text of the context files, and `environment` what the parent was
    told about its directories. Each may be empty.
    """

    skills: str = ""
    context: str = ""
    environment: str = ""


def build_agent_prompt(body: str, parts: PromptParts, mode: ApprovalMode, variables: Mapping[str, str]) -> str:
    """Build the system prompt. `${name}` in the body is replaced by the variable of this name, if there is one."""
    sections = [fill_variables(body, variables).strip(), parts.skills.strip()]
    if parts.context.strip():
        sections += [load_template("context"), parts.context.strip()]
    sections += [parts.environment.strip(), load_template("subagent"), f"# Permissions\n\n{_MODES[mode]}"]
    return "\n\n".join(section for section in sections if section)


def fill_variables(text: str, variables: Mapping[str, str]) -> str:
    """Replace the known variables, once: what was filled in is not looked through again."""
    return _VARIABLE.sub(lambda found: variables.get(found[1], found.group()), text)


def last_request(reason: SubagentEnd, limit: str) -> str:
    """What an agent is told before its last request. `limit` is the limit that it reached."""
    if reason is SubagentEnd.NO_COMPLETE_TASK_CALL:
        why = f"You stopped calling tools, but did not call `{COMPLETE_TASK}`."
    else:
        why = f"{limit} Your work ends here."
    return (
        f"{why} This is your last request: call `{COMPLETE_TASK}` now with the best result that you have, and say what "
        "is missing. No other tool can be called any more."
    )

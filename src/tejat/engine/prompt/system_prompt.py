"""The system prompt and the first messages of a conversation."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.sanitize import sanitize_line
from tejat.engine.prompt.folder_tree import render_folder_tree
from tejat.engine.prompt.templates import load_template
from tejat.tools.registry import ACTIVATE_SKILL
from tejat.workspace.paths.ignore_rules import DEFAULT_IGNORE, IgnoreOptions

ACKNOWLEDGEMENT = "Got it. Thanks for the context!"

_LEAN_CONTEXT = "# What the user and the project ask for"
_VARIABLE = r"\$\{(AvailableTools|AgentSkills|SubAgents|[\w.:-]{1,200}_ToolName)\}"
_EDIT_TOOLS = frozenset({"replace", "write_file"})


def build_system_prompt(
    *,
    context: str,
    tool_names: Collection[str],
    sandbox: str,
    is_headless: bool,
    replacement: str | None,
    is_lean: bool = False,
    subagents: str = "",
    skills: str = "",
) -> str:
    """Build the system prompt. It is the same in every session of a kind, so that services can cache it.

    `context` is the text of the context files. `sandbox` names what commands run in ("a sandbox"), empty for none. A
    `replacement` replaces everything but the context; variables of Gemini CLI in it are filled in. A lean prompt is for
    small context windows. `subagents` is the catalogue of sub-agents, which a lean prompt leaves out, `skills` that of
    skills.
    """
    if ACTIVATE_SKILL not in tool_names:
        skills = ""
    if replacement is not None:
        sections: Iterable[str] = [_fill_variables(replacement.strip(), tool_names, subagents=subagents, skills=skills)]
    elif is_lean:
        sections = [*_lean_sections(tool_names, sandbox, is_headless), skills]
    else:
        sections = [*_sections(tool_names, sandbox, is_headless), subagents, skills]
    sections = filter(None, sections)
    if context.strip():
        sections = [*sections, _LEAN_CONTEXT if is_lean else load_template("context"), context.strip()]
    return "\n\n".join(sections)


def _fill_variables(text: str, tool_names: Collection[str], *, subagents: str, skills: str) -> str:
    """Fill in `${AvailableTools}`, `${NAME_ToolName}` of each tool, `${SubAgents}` and `${AgentSkills}`."""

    def value_of(found: re.Match[str]) -> str:
        name = found[1]
        if name == "AvailableTools":
            return "\n".join(f"- {tool}" for tool in tool_names) or "No tools are available."
        if name in ("SubAgents", "AgentSkills"):
            return subagents if name == "SubAgents" else skills
        tool = name.removesuffix("_ToolName")
        return tool if tool in tool_names else found.group()

    return re.sub(_VARIABLE, value_of, text) if "${" in text else text


def _sections(tool_names: Collection[str], sandbox: str, is_headless: bool) -> Iterator[str]:
    yield load_template("system")
    if not _EDIT_TOOLS.isdisjoint(tool_names):
        yield load_template("editing")
    if "run_shell_command" in tool_names:
        yield load_template("shell")
        yield load_template("sandboxed").format(sandbox=sandbox) if sandbox else load_template("unsandboxed")
    if "save_memory" in tool_names:
        yield load_template("memory")
    yield load_template("headless" if is_headless else "interactive")


def _lean_sections(tool_names: Collection[str], sandbox: str, is_headless: bool) -> Iterator[str]:
    yield load_template("lean")
    if "run_shell_command" in tool_names:
        where = f"in {sandbox}: only the workspace can be changed" if sandbox else "without a sandbox: be careful"
        yield f"Commands run {where}."
    if is_headless:
        yield "Nobody is watching. Ask no questions, decide yourself and finish. Your last message is the result."


def environment_messages(
    *, directories: Sequence[str], today: str, platform: str, ignore: IgnoreOptions | None = DEFAULT_IGNORE
) -> tuple[Message, Message]:
    """Return the first messages: the environment of the conversation and its acknowledgement.

    `ignore` says what is left out of the trees of the directories; None means no trees.
    """
    names = list(map(sanitize_line, directories))
    where = (
        f"I am working in the directory {names[0]}"
        if len(names) == 1
        else "\n".join(["I am working in these directories:", *(f"  - {name}" for name in names)])
    )
    trees = "" if ignore is None else "\n\n".join(render_folder_tree(each, ignore) for each in directories)
    text = f"This is where we are.\nToday's date is {today}.\nMy operating system is: {platform}\n{where}"
    if trees:
        text += f"\nThis is what is in there:\n\n{trees}"
    return user_message(text), model_message(ACKNOWLEDGEMENT)

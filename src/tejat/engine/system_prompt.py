"""What the model is told before anybody speaks: how to work, and where it is."""

from collections.abc import Collection, Iterator, Sequence

from tejat.core.history import Message, model_message, user_message
from tejat.engine.folder_tree import folder_tree, on_one_line
from tejat.engine.words import words_about

ACKNOWLEDGED = "Got it. Thanks for the context!"

_EDITING = frozenset({"replace", "write_file"})


def system_prompt(
    *, context: str, tool_names: Collection[str], sandbox: str, is_headless: bool, replacement: str | None
) -> str:
    """The system instruction. It is the same in every session of a kind, so that a service can keep it at hand.

    `context` is what people wrote for the model; `sandbox` says what commands run in ("a sandbox"), empty for nothing.
    Where there is a `replacement`, it stands for everything but the context.
    """
    sections = [replacement.strip()] if replacement is not None else _sections(tool_names, sandbox, is_headless)
    if context.strip():
        sections = [*sections, words_about("context"), context.strip()]
    return "\n\n".join(sections)


def _sections(tool_names: Collection[str], sandbox: str, is_headless: bool) -> Iterator[str]:
    yield words_about("system")
    if not _EDITING.isdisjoint(tool_names):
        yield words_about("editing")
    if "run_shell_command" in tool_names:
        yield words_about("shell")
        yield words_about("sandboxed").format(sandbox=sandbox) if sandbox else words_about("unsandboxed")
    if "save_memory" in tool_names:
        yield words_about("memory")
    yield words_about("headless" if is_headless else "interactive")


def first_message(
    *, directories: Sequence[str], today: str, platform: str, respect_git_ignore: bool = True
) -> tuple[Message, Message]:
    """What a conversation opens with: where and when it takes place, and the acknowledgement that belongs to it."""
    names = list(map(on_one_line, directories))
    where = (
        f"I am working in the directory {names[0]}"
        if len(names) == 1
        else "\n".join(["I am working in these directories:", *(f"  - {name}" for name in names)])
    )
    trees = "\n\n".join(folder_tree(directory, respect_git_ignore=respect_git_ignore) for directory in directories)
    text = (
        "This is where we are.\n"
        f"Today's date is {today}.\n"
        f"My operating system is: {platform}\n"
        f"{where}\n"
        f"This is what is in there:\n\n{trees}"
    )
    return user_message(text), model_message(ACKNOWLEDGED)

"""`/directory`: show and add workspace directories."""

import os
from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.run_config import RunConfig
from tejat.app.session.manager import SessionManager
from tejat.app.session.prompt.context import load_context_files
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _
from tejat.core.messages.history import user_message
from tejat.core.sanitize import sanitize_line
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, Tone
from tejat.engine.prompt.folder_tree import render_folder_tree
from tejat.workspace.files.roots import Roots

_USAGE = "/directory show | add PATH[,PATH]"


class DirectoryCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        word, _unused, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case "show", "":
                known = "\n".join(f"- {path}" for path in self.context.toolset.roots.paths)
                user.show(Report(_("Current workspace directories:"), (Paragraph(known),)))
            case "add", "":
                raise UsageError(_("Please provide at least one path to add."))
            case "add", paths:
                await self._add(paths.split(","), user)
            case _:
                raise UsageError(_("Usage: {usage}", usage=_USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            return complete_from(word, [("show", _("workspace directories")), ("add", _("add directories"))])
        return _complete_directory(rest.rpartition(",")[2], self.context.run_config) if word == "add" else ()

    async def _add(self, paths: Sequence[str], user: UserPrompter) -> None:
        manager = self.context.manager
        self.context.require_idle()
        added: list[str] = []
        known: list[str] = []
        problems: list[Paragraph] = []
        for typed in filter(None, map(str.strip, paths)):
            path = _absolute(typed, manager.run_config)
            try:
                (added if _add_root(manager, path) else known).append(path)
            except UsageError as error:
                problems.append(Paragraph(_("Error adding '{path}': {why}", path=typed, why=error), Tone.BAD))
        if added:
            await _announce(manager, added)
        blocks = [
            *_path_list(_("Successfully added directories:"), added, Tone.GOOD),
            *_path_list(_("The following directories are already in the workspace:"), known, Tone.PLAIN),
            *problems,
        ]
        user.show(Report(blocks=tuple(blocks)))


def _add_root(manager: SessionManager, path: str) -> bool:
    """Add a root and return whether it is new. Raises UsageError, and changes nothing, if it cannot be used."""
    roots = manager.toolset.roots
    with Roots([path]) as tried:
        if any(tried.first.real_path == root.real_path for root in roots.directories):
            return False
    manager.toolset.services.add_root(path)
    manager.run_config = replace(manager.run_config, roots=(*manager.run_config.roots, path))
    return True


async def _announce(manager: SessionManager, added: Sequence[str]) -> None:
    """Tell the model with the next prompt and the MCP servers at once."""
    run_config, conversation = manager.run_config, manager.session.conversation
    if run_config.settings.load_memory_from_include_directories.value:
        conversation.set_context(load_context_files(run_config))
    names = "\n".join(f"  - {sanitize_line(path)}" for path in added)
    text = f"From now on I am working in these directories too:\n{names}"
    if run_config.settings.include_directory_tree.value:
        trees = "\n\n".join(render_folder_tree(path, run_config.ignore_options) for path in added)
        text += f"\nThis is what is in there:\n\n{trees}"
    manager.session.add_note(user_message(text), "")
    if manager.toolset.mcp_manager is not None:
        await manager.toolset.mcp_manager.notify_roots_changed()


def _path_list(heading: str, paths: Sequence[str], tone: Tone) -> list[Paragraph]:
    return [Paragraph("\n".join((heading, *(f"- {path}" for path in paths))), tone)] if paths else []


def _absolute(typed: str, run_config: RunConfig) -> str:
    if typed == "~" or typed.startswith("~/"):
        typed = run_config.paths.home + typed[1:]
    return os.path.abspath(os.path.join(run_config.roots[0], typed))


def _complete_directory(typed: str, run_config: RunConfig) -> list[CompletionItem]:
    """Directories on disk whose path begins with the typed text."""
    before, slash, beginning = typed.rpartition("/")
    try:
        with os.scandir(_absolute(before + slash, run_config)) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and entry.name.startswith(beginning))
    except OSError:
        return []
    is_hidden = beginning.startswith(".")
    shown = [name for name in names if is_hidden or not name.startswith(".")]
    return [CompletionItem(f"{before}{slash}{name}/", len(typed), label=f"{name}/") for name in shown[:_MAX_SUGGESTED]]


_MAX_SUGGESTED = 50

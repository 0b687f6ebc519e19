"""`/memory`: show, add to and reload the context files."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.session.prompt.context import load_context_files
from tejat.config.context.discovery import ContextFiles
from tejat.core.errors import UsageError
from tejat.core.i18n import _, ngettext
from tejat.core.tools.base import validate_and_execute
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, SourceListing, Tone, text_report
from tejat.tools.save_memory import MemoryTool
from tejat.workspace.files.memory_file import format_fact

_USAGE = "/memory show | add TEXT | refresh | list"


class MemoryCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        word, _unused, rest = arguments.partition(" ")
        match word.lower():
            case "show":
                user.show(self._show_report())
            case "list":
                user.show(_list_report(self._context))
            case "refresh" | "reload":
                user.show(self._refresh())
            case "add":
                await self._add(rest.strip(), user)
            case "":
                raise UsageError(_("Missing command\nUsage: {usage}", usage=_USAGE))
            case _:
                raise UsageError(_("Unknown /memory command: {word}. Available: show, add, refresh, list", word=word))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        options = [
            ("show", _("what the model reads")),
            ("add", _("save a fact for all sessions")),
            ("refresh", _("read the files again")),
            ("list", _("the context files")),
        ]
        return complete_from(typed, options)

    @property
    def _context(self) -> ContextFiles:
        return self.context.conversation.template.context

    def _combined(self) -> str:
        return self._context.to_prompt(self.context.run_config.roots[0])

    def _show_report(self) -> Report:
        text, count = self._combined(), len(self._context.files)
        if not text:
            return text_report(_("Memory is currently empty."))
        heading = ngettext("Memory from {count} file:", "Memory from {count} files:", count)
        return Report(blocks=(Paragraph(heading), SourceListing(f"---\n{text}\n---", "markdown")))

    def _refresh(self) -> Report:
        context = load_context_files(self.context.run_config)
        self.context.conversation.set_context(context)
        done = _("Memory refreshed successfully. No memory content found.")
        if text := self._combined():
            done = ngettext(
                "Memory refreshed successfully. Loaded {characters} characters from {count} file.",
                "Memory refreshed successfully. Loaded {characters} characters from {count} files.",
                len(context.files),
                characters=len(text),
            )
        warnings = (Paragraph(warning, Tone.WARNING) for warning in context.warnings)
        return Report(blocks=(Paragraph(done, Tone.GOOD), *warnings))

    async def _add(self, fact: str, user: UserPrompter) -> None:
        if not fact:
            raise UsageError(_("Usage: /memory add <text to remember>"))
        memory = self.context.toolset.services.memory()
        # The words are the user's own, so nothing is asked; only the model's calls need approval.
        result = await validate_and_execute(MemoryTool(memory), {"fact": fact})
        if result.error is not None:
            user.show(text_report(str(result.return_display), Tone.BAD))
            return
        self.context.conversation.set_context(load_context_files(self.context.run_config))
        saved = Paragraph(
            _(
                "Added to {path}: {fact}",
                path=self.context.run_config.paths.abbreviate(memory.path),
                fact=format_fact(fact),
            ),
            Tone.GOOD,
        )
        user.show(Report(blocks=(saved, Paragraph(_("The model sees it from the next prompt on."), Tone.QUIET))))


def _list_report(context: ContextFiles) -> Report:
    if not context.files:
        return text_report(_("No context files are in use."))
    paths = "\n".join(f"- {file.path}" for file in context.files)
    heading = ngettext("{count} context file in use:", "{count} context files in use:", len(context.files))
    return Report(blocks=(Paragraph(heading), Paragraph(paths)))

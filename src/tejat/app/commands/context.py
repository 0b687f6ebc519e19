"""`/context`: the parts of a model request with their sizes and sources."""

from collections import Counter

from tejat.app.commands.base import SlashCommand
from tejat.config.context.discovery import ContextFile, ContextFileOrigin
from tejat.core.i18n import _, lazy, ngettext, translate
from tejat.core.messages.tokens import estimate_declaration_tokens, estimate_message_tokens, estimate_text_tokens
from tejat.core.provenance import ToolSource
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone
from tejat.tools.registry import ToolEntry


class ContextCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        del arguments
        conversation = self.context.conversation
        window = conversation.context_window
        rows = self._rows()
        used = sum(tokens for _unused, tokens in rows)
        shares = [(name, f"{tokens:,}", _share(tokens, window)) for name, tokens in rows]
        shares.append((_("Free"), f"{max(0, window - used):,}", _share(max(0, window - used), window)))
        total = _(
            "About {used} of {window} tokens used ({model})",
            used=f"{used:,}",
            window=f"{window:,}",
            model=conversation.model.name,
        )
        table = ReportTable(tuple(shares), (_("Part"), _("Tokens"), _("Share")))
        user.show(Report(_("Context"), (Paragraph(total), table, *self._files())))

    def _rows(self) -> list[tuple[str, int]]:
        """Parts of a request with their estimated tokens. Empty parts except the conversation are left out."""
        conversation = self.context.conversation
        template, messages = conversation.template, conversation.history.messages
        context = estimate_text_tokens(template.context.to_prompt(self.context.run_config.roots[0]))
        instructions = "" if template.instructions is None else template.instructions()
        catalogue = self.context.manager.subagents.catalogue(conversation.context_window)
        agents = estimate_text_tokens(catalogue) if catalogue and catalogue in template.system else 0
        skills = estimate_text_tokens(self._skills())
        rows = [
            (_("System prompt"), max(0, estimate_text_tokens(template.system) - context - agents - skills)),
            (_("Skills"), skills),
            (_("Sub-agents"), agents),
            (_("Context files"), context),
            (_("MCP server instructions"), estimate_text_tokens(instructions)),
            *self._tools(),
            (_("Opening messages"), estimate_message_tokens(messages[: template.preamble_length])),
        ]
        rows = [row for row in rows if row[1]]
        return [*rows, (_("Conversation"), estimate_message_tokens(messages[template.preamble_length :]))]

    def _skills(self) -> str:
        """The catalogue of skills in the system prompt."""
        services = self.context.toolset.services
        if not services.has_skills:
            return ""
        text = services.skills.catalogue(self.context.conversation.context_window).text
        return text if text in self.context.conversation.template.system else ""

    def _tools(self) -> list[tuple[str, int]]:
        """Declared tools by source."""
        registry = self.context.registry
        tokens, tools = Counter[str](), Counter[str]()
        for declaration in self.context.conversation.template.declarations():
            name = _source_label(registry.entry(declaration.name))
            tokens[name] += estimate_declaration_tokens(declaration)
            tools[name] += 1
        return [
            (ngettext("{count} {source} tool", "{count} {source} tools", tools[name], source=name), tokens[name])
            for name in tokens
        ]

    def _files(self) -> list[ReportBlock]:
        context = self.context.conversation.template.context
        warnings = [Paragraph(warning, Tone.WARNING) for warning in context.warnings]
        if not context.files:
            return [Paragraph(_("No context files."), Tone.QUIET), *warnings]
        rows = tuple(
            (file.path, _size(file), f"{estimate_text_tokens(file.text):,}", translate(_REASONS[file.origin]))
            for file in context.files
        )
        headings = (_("File"), _("Size"), _("Tokens"), _("Why"))
        return [Paragraph(_("Context files"), Tone.STRONG), ReportTable(rows, headings), *warnings]


def _size(file: ContextFile) -> str:
    return ngettext("{count} byte", "{count} bytes", file.size)


def _source_label(entry: ToolEntry | None) -> str:
    match None if entry is None else entry.source:
        case None | ToolSource.BUILT_IN:
            return _("built-in")
        case ToolSource.PYTHON:
            return _("plugins")
        case ToolSource.DISCOVERED:
            return _("discovery command")
        case ToolSource.MCP:
            alias = None if entry is None else entry.server
            return _("MCP servers") if alias is None else _("MCP server {name}", name=alias)


_REASONS = {
    ContextFileOrigin.USER: lazy("your own, read in every session"),
    ContextFileOrigin.EXTENSION: lazy("of an extension"),
    ContextFileOrigin.ABOVE: lazy("in a directory above the project"),
    ContextFileOrigin.PROJECT: lazy("in the project directory"),
    ContextFileOrigin.BELOW: lazy("in a subdirectory"),
}


def _share(tokens: int, window: int) -> str:
    return f"{tokens / window:.1%}" if window > 0 else ""

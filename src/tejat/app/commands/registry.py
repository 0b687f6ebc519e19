"""The slash commands of a session: built-in commands, custom commands and MCP prompts."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import cast

from tejat.app.commands.base import CommandContext, SlashCommand, complete_from
from tejat.app.commands.builtin import builtin_commands, builtin_names
from tejat.app.commands.replacements import REPLACEMENTS
from tejat.app.session.definitions import load_definitions
from tejat.config.paths import SourceTier
from tejat.core.errors import TejatError
from tejat.core.i18n import _, translate
from tejat.core.text.edit_distance import edit_distance
from tejat.core.ui.commands import CommandAction, CommandSummary, CompletionItem, NoAction, SubmitPromptAction
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone, text_report
from tejat.mcp.features.prompts import HELP, PromptCommand

_MAX_COMPARED = 200
_MAX_SUGGESTED = 3
_MODULES = {"commands": "custom_commands"}
"""Modules with another name than their command."""


class CommandRegistry:
    """Finds, completes and runs commands. Built-in commands are loaded on first use and take precedence over others."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._loaded: dict[str, SlashCommand] = {}

    def summaries(self) -> Sequence[CommandSummary]:
        load_definitions(self._context.manager)
        own, taken = builtin_commands(), builtin_names()
        external = (*self._skill_summaries(), *self._prompt_summaries(), *self._custom_summaries())
        others = {summary.name: summary for summary in external}
        found = [*own, *(summary for name, summary in others.items() if name not in taken)]
        return sorted(found, key=lambda summary: summary.name)

    def notes(self) -> Sequence[str]:
        """Notes about custom commands that cannot be used."""
        custom, taken = self._context.custom_commands, builtin_names()
        hidden = [
            _(
                "{path} is not used: /{name} is a built-in command. Rename the file.",
                path=each.path,
                name=name,
            )
            for name, each in custom.commands.items()
            if name in taken
        ]
        return [*hidden, *custom.problems]

    def describe(self, name: str) -> Report:
        """Explain one command, called by any of its names."""
        folded = name.casefold()
        for summary in self.summaries():
            if folded in (summary.name.casefold(), *summary.aliases):
                return _command_help(summary)
        return self._unknown(name)

    async def suggestions(self, line: str) -> Sequence[CompletionItem]:
        load_definitions(self._context.manager)
        name, blank, typed = _split_line(line)
        if not blank:
            return self._complete_name(name)
        own = _resolve_builtin(name)
        if own is not None:
            return await self._command(own).suggestions(typed)
        prompt = next((prompt for prompt in self._prompts() if prompt.name == name), None)
        return () if prompt is None else _prompt_argument_suggestions(prompt, typed)

    async def run(self, line: str, user: UserPrompter) -> CommandAction:
        load_definitions(self._context.manager)
        name, _, typed = _split_line(line.strip())
        try:
            own = _resolve_builtin(name)
            if own is not None:
                return await self._command(own).run(typed.strip(), user) or NoAction()
            if "/" in name or name.startswith("*") or self._is_external(name):
                return SubmitPromptAction(line, line)
            user.show(self._unknown(name))
        except TejatError as error:
            user.show(text_report(str(error), Tone.BAD))
        except OSError as error:
            user.show(text_report(_os_error_message(error), Tone.BAD))
        return NoAction()

    def _command(self, name: str) -> SlashCommand:
        if name not in self._loaded:
            module_name = _MODULES.get(name, name.replace("-", "_"))
            module = import_module(f"tejat.app.commands.{module_name}")
            class_name = "".join(map(str.capitalize, module_name.split("_"))) + "Command"
            command = cast("type[SlashCommand]", getattr(module, class_name))
            self._loaded[name] = command(self._context)
        return self._loaded[name]

    def _complete_name(self, typed: str) -> list[CompletionItem]:
        """Names that begin with the typed text, then aliases that do, then names with a part that does."""
        prefix = typed.casefold()
        first: list[CompletionItem] = []
        aliased: list[CompletionItem] = []
        later: list[CompletionItem] = []
        for summary in self.summaries():
            is_matching = summary.name.casefold().startswith(prefix)
            aliases = () if is_matching else (alias for alias in summary.aliases if alias.startswith(prefix))
            for name in (summary.name, *aliases):
                suggestion = _name_suggestion(name, summary, len(typed) + 1)
                if name.casefold().startswith(prefix):
                    (first if is_matching else aliased).append(suggestion)
                elif any(part.startswith(prefix) for part in re.split(r"[:_-]", name.casefold())):
                    later.append(suggestion)
        return [*first, *aliased, *later]

    def _unknown(self, name: str) -> Report:
        if instead := REPLACEMENTS.get(name.casefold()):
            return text_report(_("There is no /{name}. {instead}", name=name, instead=instead), Tone.WARNING)
        names = [each for summary in self.summaries() for each in (summary.name, *summary.aliases)]
        words = Paragraph(_("Unknown command: {name}", name=f"/{name}"), Tone.BAD)
        closest = _closest_names(name, names)
        if not closest:
            return Report(blocks=(words, Paragraph(_("/help lists all commands."), Tone.QUIET)))
        candidates = ", ".join(f"/{each}" for each in closest)
        return Report(blocks=(words, Paragraph(_("Did you mean {names}?", names=candidates))))

    def _is_external(self, name: str) -> bool:
        """Whether the session expands this name into a prompt, or reports why it cannot."""
        custom = self._context.custom_commands
        if name in custom.names:
            return True
        return any(prompt.name == name for prompt in self._prompts()) or self._is_skill(name)

    def _is_skill(self, name: str) -> bool:
        from tejat.app.skills.slash import find_called_skill

        return find_called_skill(self._context.toolset.services.skills, name) is not None

    def _skill_summaries(self) -> Iterable[CommandSummary]:
        """Skills that people may call. Without skills of their own nothing is looked for."""
        if not self._context.toolset.services.has_skills:
            return
        for skill in self._context.toolset.services.skills.library.skills:
            if skill.fields.is_user_invocable:
                hint = skill.fields.argument_hint or _("[WORDS]")
                source = _("skill, {party}", party=skill.provenance.label)
                yield CommandSummary(
                    skill.slash_name, skill.fields.description, f"/{skill.slash_name} {hint}", source=source
                )

    def _custom_summaries(self) -> Iterable[CommandSummary]:
        for command in self._context.custom_commands.commands.values():
            is_own = command.tier is SourceTier.USER
            source = _("your commands") if is_own else _("project commands")
            if command.extension is not None:
                source = _("extension {name}", name=command.extension.name)
            usage = f"/{command.name} " + _("[WORDS]") if "{{args}}" in command.prompt else ""
            yield CommandSummary(command.name, command.description, usage, source=source)

    def _prompts(self) -> Sequence[PromptCommand]:
        manager = self._context.mcp_manager
        if manager is None:
            return ()
        custom = self._context.custom_commands
        return manager.prompt_commands(taken=custom.names)

    def _prompt_summaries(self) -> Iterable[CommandSummary]:
        for prompt in self._prompts():
            arguments = [f"--{argument.name}=…" for argument in prompt.prompt.arguments]
            yield CommandSummary(
                prompt.name,
                " ".join(translate(prompt.description).split()),
                " ".join((f"/{prompt.name}", *arguments)) if arguments else "",
                source=_("MCP server {name}", name=prompt.server.alias),
            )


def _command_help(summary: CommandSummary) -> Report:
    blocks: list[ReportBlock] = [Paragraph(summary.summary)]
    if summary.usage:
        blocks.append(Paragraph(_("Usage: {usage}", usage=summary.usage)))
    if summary.aliases:
        names = ", ".join(f"/{alias}" for alias in summary.aliases)
        blocks.append(Paragraph(_("Aliases: {names}", names=names)))
    if summary.details:
        blocks.append(Paragraph(summary.details, Tone.QUIET))
    if summary.source:
        blocks.append(Paragraph(_("Source: {source}", source=summary.source), Tone.QUIET))
    return Report(f"/{summary.name}", tuple(blocks))


def _split_line(line: str) -> tuple[str, str, str]:
    """Split into the name without its slash, the blank after it, and the rest."""
    found = re.fullmatch(r"(?s)/(\S*)(\s?)(.*)", line)
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _resolve_builtin(name: str) -> str | None:
    """The name of the built-in command with this name or alias, None if there is none."""
    folded = name.casefold()
    return next((command.name for command in builtin_commands() if folded in (command.name, *command.aliases)), None)


def _name_suggestion(name: str, summary: CommandSummary, typed: int) -> CompletionItem:
    blank = " " if summary.usage else ""
    detail = f"{translate(summary.summary)} ({summary.source})" if summary.source else summary.summary
    return CompletionItem(f"/{name}{blank}", typed, label=f"/{name}", detail=detail)


def _prompt_argument_suggestions(prompt: PromptCommand, typed: str) -> list[CompletionItem]:
    """Arguments not given yet, and at the beginning the option that explains them."""
    word = re.split(r"\s", typed)[-1]
    named = set(re.findall(r"--([^\s=]+)=", typed))
    options = [(f"--{each.name}=", each.description) for each in prompt.prompt.arguments if each.name not in named]
    if word == typed:
        options.append((HELP, _("show the arguments")))
    return complete_from(word, options)


def _closest_names(name: str, known: Sequence[str]) -> list[str]:
    """Names at a small edit distance or with this prefix, closest first."""
    prefix = name.casefold()
    if not prefix or len(prefix) > _MAX_COMPARED:
        return []
    near = [(edit_distance(prefix, each.casefold()), each) for each in known[:_MAX_COMPARED]]
    candidates = [pair for pair in near if pair[0] <= max(1, len(prefix) // 3) or pair[1].casefold().startswith(prefix)]
    return [each for _, each in sorted(candidates)[:_MAX_SUGGESTED]]


def _os_error_message(error: OSError) -> str:
    why = error.strerror or str(error)
    if error.filename is None:
        return _("Failed: {why}.", why=why)
    return _("Failed: {path}: {why}.", path=error.filename, why=why)

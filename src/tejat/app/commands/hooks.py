"""`/hooks`: list hooks and switch them on or off."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.config.hooks import HookConfig, parse_hooks
from tejat.config.settings.file import SettingKey
from tejat.config.settings.types import Settings
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone

USAGE = "/hooks [list | enable NAME | disable NAME]"
_DISABLED = SettingKey("hooksConfig.disabled", "hooks.disabled")


class HookStates(Frozen):
    """The configured hooks and those of them that run."""

    all: tuple[HookConfig, ...]
    running: tuple[HookConfig, ...]
    warnings: tuple[str, ...]


class HooksCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        word, _unused, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case (("" | "list"), ""):
                user.show(_list_report(self._states()))
            case ("enable" | "disable") as action, name if name:
                user.show(self._switch(name, on=action == "enable"))
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            options = [("list", _("all hooks")), ("enable", _("turn a hook on")), ("disable", _("turn a hook off"))]
            return complete_from(word, options)
        hooks = self._states().all if word in ("enable", "disable") else ()
        return complete_from(rest, dict.fromkeys((hook.qualified_name, hook.event.value) for hook in hooks))

    def _states(self) -> HookStates:
        return hook_states(self.context.reload_settings(), self.context.run_config.extension_effects.hooks)

    def _switch(self, name: str, *, on: bool) -> Report:
        known = self._states()
        named = [hook for hook in known.all if name in (hook.name, hook.qualified_name)]
        if not named:
            names = ", ".join(dict.fromkeys(hook.qualified_name for hook in known.all)) or _("none")
            raise UsageError(_("Unknown hook {name}. Known: {names}.", name=name, names=names))
        if on:
            paths = self.context.user_settings.remove_entry(_DISABLED, name)
        else:
            paths = self.context.user_settings.add_entry(_DISABLED, name)
        running = [hook for hook in self._states().running if name in (hook.name, hook.qualified_name)]
        text = _("Hook {name} is off. Takes effect at the next start.", name=name)
        if running:
            text = _("Hook {name} is on. Takes effect at the next start.", name=name)
        blocks: list[ReportBlock] = [Paragraph(text, Tone.GOOD if on is bool(running) else Tone.WARNING)]
        blocks += [Paragraph(_("Saved in {path}.", path=path), Tone.QUIET) for path in paths]
        if on is not bool(running):
            blocks.append(
                Paragraph(_("A higher-precedence setting overrides this. See `tejat docs hooks`."), Tone.QUIET)
            )
        return Report(blocks=tuple(blocks))


def hook_states(settings: Settings, extensions: Sequence[HookConfig] = ()) -> HookStates:
    """The hooks of the settings and of extensions, and which of them run."""
    found = parse_hooks(settings.hooks, settings.hooks_switches, extensions)
    given = {name: entries for name, entries in settings.hooks.items() if name not in ("disabled", "enabled")}
    return HookStates(parse_hooks(given, {}, extensions).hooks, found.hooks, found.warnings)


def _list_report(known: HookStates) -> Report:
    if not known.all and not known.warnings:
        return Report(blocks=(Paragraph(_("No hooks configured. See `tejat docs hooks`.")),))
    rows = tuple(
        (
            hook.qualified_name,
            hook.event.value,
            hook.matcher or "*",
            _("on") if hook in known.running else _("off"),
            hook.source,
        )
        for hook in known.all
    )
    headings = (_("Name"), _("Event"), _("Matcher"), _("State"), _("Source"))
    return Report(
        _("Hooks"), (ReportTable(rows, headings), *(Paragraph(warning, Tone.WARNING) for warning in known.warnings))
    )

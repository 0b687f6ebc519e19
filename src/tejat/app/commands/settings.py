"""`/settings`: list settings with their sources, and change the user's own."""

from collections.abc import Sequence

from tejat.app.commands.base import CommandContext, SlashCommand, complete_from
from tejat.app.commands.setting_values import (
    IMMEDIATE_SETTINGS,
    SettingView,
    find_setting,
    parse_value,
    setting_view,
    setting_views,
)
from tejat.app.session.preferences import resolve_theme_name, theme_names
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.schema.spec import SettingSpec
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone


class SettingsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        name, _, typed = arguments.partition(" ")
        match name.lower(), typed.strip():
            case "", _:
                await self._choose(user)
            case "list", "":
                user.show(self._list_report())
            case "unset", given if given:
                user.show(unset_setting(self.context, find_setting(given)))
            case _, "":
                user.show(_detail_report(setting_view(self.context.reload_settings(), find_setting(name))))
            case _, given:
                user.show(self._write(find_setting(name), given))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        name, blank, rest = typed.partition(" ")
        known = {shown.name: shown for shown in setting_views(self.context.reload_settings())}
        if not blank or name == "unset":
            words = [] if blank else [("list", _("all settings")), ("unset", _("remove one from your settings"))]
            return complete_from(
                rest if blank else name, [*words, *((each.name, each.value) for each in known.values())]
            )
        if name == "ui.theme":
            return complete_from(rest, ((theme, "") for theme in theme_names(self.context.reload_settings())))
        is_switch = name in known and known[name].is_switch
        return complete_from(rest, [("true", ""), ("false", "")]) if is_switch else ()

    def _list_report(self) -> Report:
        paths = self.context.run_config.paths
        rows = tuple(
            (shown.name, shown.value, shown.source)
            for shown in setting_views(self.context.reload_settings())
            if shown.value or shown.source
        )
        return Report(
            _("Settings"),
            (
                ReportTable(rows, (_("Name"), _("Value"), _("Source"))),
                Paragraph(
                    _("Your settings are in {gemini} and {own}", gemini=paths.user_settings, own=paths.own_settings),
                    Tone.QUIET,
                ),
                Paragraph(_("/settings NAME VALUE changes a setting, /settings unset NAME removes it."), Tone.QUIET),
            ),
        )

    async def _choose(self, user: UserPrompter) -> None:
        """Let the user choose a setting with a single value, and its new value."""
        settings = self.context.reload_settings()
        shown = [each for each in setting_views(settings) if each.name not in _COMPOSITE_SETTINGS]
        options = tuple(Option(each.name, each.value) for each in shown)
        index = await user.choose(Choice(_("Choose a setting to change"), options))
        if index is None:
            return
        row = find_setting(shown[index].name)
        typed = await _ask_value(shown[index], user)
        if typed is not None and typed.strip():
            user.show(self._write(row, typed.strip()))

    def _write(self, row: SettingSpec, typed: str) -> Report:
        """Write typed text as a setting. Raises UsageError for a wrong value, and as `write_setting` does."""
        given = parse_value(self.context, row, typed)
        if row.field == "theme":
            given = resolve_theme_name(str(given), self.context.reload_settings())
        return write_setting(self.context, row, given)


_COMPOSITE_SETTINGS = frozenset(
    {"mcpServers", "hooks", "hooksConfig", "telemetry", "model.prices", "model.summarizeToolOutput"}
)


async def _ask_value(shown: SettingView, user: UserPrompter) -> str | None:
    if not shown.is_switch:
        return await user.enter(shown.name, initial=shown.value)
    words = ("true", "false")
    choice = Choice(shown.name, tuple(map(Option, words)), initial=words.index(shown.value))
    index = await user.choose(choice)
    return None if index is None else words[index]


def write_setting(context: CommandContext, row: SettingSpec, given: JsonValue) -> Report:
    """Write a validated value into the user's settings and report the result.

    Raises SettingsError, UsageError and OSError.
    """
    return _report(context, row, context.user_settings.write(row.key, given))


def unset_setting(context: CommandContext, row: SettingSpec) -> Report:
    """Remove a setting from the user's files and report the result. Raises as `write_setting` does."""
    context.user_settings.remove(row.key)
    return _report(context, row, None)


def _report(context: CommandContext, row: SettingSpec, path: str | None) -> Report:
    """Apply what takes effect at once, and report the value now in force. `path` is the file that was written."""
    settings = context.reload_settings()
    shown = setting_view(settings, row)
    context.apply_preferences(settings)
    value = shown.value or _("not set")
    blocks: list[ReportBlock] = [Paragraph(_("{name} is now {value}.", name=shown.name, value=value), Tone.GOOD)]
    if path is not None:
        blocks.append(Paragraph(_("Saved in {path}.", path=path), Tone.QUIET))
    if path is None and shown.source:
        blocks.append(Paragraph(_("Set in {source}.", source=shown.source), Tone.QUIET))
    elif path is not None and f"{path}:" not in shown.source:
        blocks.append(Paragraph(_("Set in {source}, which takes precedence.", source=shown.source), Tone.WARNING))
    if shown.name not in IMMEDIATE_SETTINGS:
        blocks.append(Paragraph(_("Takes effect at the next start."), Tone.QUIET))
    return Report(blocks=tuple(blocks))


def _detail_report(shown: SettingView) -> Report:
    names = ", ".join(name for row in SETTINGS if row.key.names[0] == shown.name for name in row.key.names[1:])
    rows = [(_("Value"), shown.value or _("not set")), (_("Source"), shown.source or _("not set"))]
    if names:
        rows.append((_("Former names"), names))
    return Report(shown.name, (ReportTable(tuple(rows)),))

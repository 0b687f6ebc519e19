"""`/extensions`: list, review, install, update, configure and switch extensions."""

import os
import shlex
from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.environment import ExtensionEnvironment, is_link
from tejat.app.extensions.errors import NotConfirmed
from tejat.app.extensions.installer import ExtensionInstaller, InstallOptions
from tejat.app.extensions.inventory import listing_report
from tejat.app.extensions.reload import reload_extensions
from tejat.app.extensions.removal import describe_removal, uninstall_extension
from tejat.app.extensions.review import ExtensionReview
from tejat.app.extensions.settings_dialog import ConfigOptions, SettingsDialog
from tejat.app.extensions.switch import switch_extension
from tejat.app.extensions.updater import ExtensionUpdater
from tejat.config.extensions.settings_values import SettingScope
from tejat.config.settings.admin import require_enabled
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, text_report

GALLERY = "https://geminicli.com/extensions/"
USAGE = (
    "/extensions [list | review NAME | enable NAME | disable NAME [--scope user|workspace|session] | config NAME | "
    "update NAME|--all | install SOURCE | link PATH | uninstall NAME | reload | explore]"
)
_SESSION = "session"
_TAKE_NAME = ("review", "enable", "disable", "config", "update", "uninstall", "delete")


class ExtensionsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        require_enabled(self.context.run_config.settings.extensions_enabled, "admin.extensions.enabled")
        try:
            words = shlex.split(arguments)
        except ValueError:
            raise UsageError(_("Usage: {usage}", usage=USAGE)) from None
        try:
            message = await self._run(words, user)
        except NotConfirmed as error:
            message = str(error)
        if message:
            user.show(text_report(message))

    async def _run(self, words: list[str], user: UserPrompter) -> str:
        environment = self._environment()
        match words:
            case [] | ["list"]:
                user.show(listing_report(environment))
                return ""
            case ["explore"]:
                user.show(Report(blocks=(Paragraph(_("Extensions of others: {address}", address=GALLERY)),)))
                return ""
            case ["reload" | "restart", *_names]:
                self.context.require_idle()
                user.show(await reload_extensions(self.context))
                return ""
            case [("enable" | "disable") as word, name, *rest]:
                return await self._switch(environment, name, _scope(rest), on=word == "enable")
            case _:
                return await self._change(words, environment, user)

    async def _change(self, words: list[str], environment: ExtensionEnvironment, user: UserPrompter) -> str:
        """Run a command that asks the user."""
        dialog = ConsentDialog(user)
        installer = ExtensionInstaller(environment, dialog)
        match words:
            case ["review", name]:
                message = await ExtensionReview(environment, dialog).review(environment.find(name))
            case ["config", name]:
                found = environment.find(name)
                message = await SettingsDialog(environment, dialog).configure(found, ConfigOptions())
            case ["update", name]:
                message = await self._update(installer, name)
            case ["install", source]:
                message = await installer.install(source, InstallOptions())
            case ["link", path]:
                message = await installer.link(path, follows=False)
            case ["uninstall" | "delete", name]:
                found = environment.find(name)
                await dialog.confirm([describe_removal(found)], question=_("Remove?"))
                message = uninstall_extension(environment, found)
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))
        return f"{message}\n{_hint()}" if message else _hint()

    async def _update(self, installer: ExtensionInstaller, name: str) -> str:
        updater = ExtensionUpdater(installer)
        if name != "--all":
            return await updater.update(name)
        installed = installer.environment.find_all().extensions
        names = [found.name for found in installed if found.record is not None and not is_link(found)]
        messages = [await updater.update(each) for each in names]
        return "\n".join(messages) or _("No extensions to update.")

    async def _switch(self, environment: ExtensionEnvironment, name: str, scope: str, *, on: bool) -> str:
        if scope != _SESSION:
            return switch_extension(environment, name, SettingScope(scope), on=on) + "\n" + _hint()
        found = environment.find(name)
        self.context.require_idle()
        off = self.context.manager.session_disabled_extensions
        (off.discard if on else off.add)(found.name.lower())
        await reload_extensions(self.context)
        if on:
            return _('Extension "{name}" is enabled in this session.', name=found.name)
        return _('Extension "{name}" is disabled in this session.', name=found.name)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if blank:
            names = self._names() if word in _TAKE_NAME else ()
            return complete_from(rest, ((name, "") for name in names))
        options = [
            ("list", _("all extensions with their state")),
            ("review", _("look at an extension and agree to it")),
            ("enable", _("turn an extension on")),
            ("disable", _("turn an extension off")),
            ("config", _("set the values that an extension needs")),
            ("update", _("update to the newest version")),
            ("install", _("install an extension")),
            ("link", _("use a directory as an extension")),
            ("uninstall", _("remove an extension")),
            ("reload", _("use what was changed")),
            ("explore", _("where to find extensions")),
        ]
        return complete_from(word, options)

    def _names(self) -> list[str]:
        """The directories of the extensions, which nearly always have their names."""
        try:
            return sorted(name for name in os.listdir(self.context.run_config.paths.extensions) if name[0] != ".")
        except OSError:
            return []

    def _environment(self) -> ExtensionEnvironment:
        return ExtensionEnvironment(self.context.run_config)


def _scope(words: Sequence[str]) -> str:
    match words:
        case []:
            return SettingScope.USER.value
        case ["--scope", ("user" | "workspace" | "session") as scope]:
            return scope
        case [word] if word in ("--scope=user", "--scope=workspace", "--scope=session"):
            return word.removeprefix("--scope=")
        case _:
            raise UsageError(_("Usage: {usage}", usage=USAGE))


def _hint() -> str:
    return _("Run /extensions reload to use it in this session.")

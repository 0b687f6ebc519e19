"""`/skills`: list, show, switch, link and reload skills."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.session.session_parts import reload_skills
from tejat.app.skills.manager import NotAgreed, SkillManager
from tejat.app.skills.reports import SkillRow, listing_report, skill_report, skill_rows
from tejat.app.skills.service import SkillService
from tejat.app.skills.switches import SkillScope, SkillSwitches
from tejat.config.skills.content import read_skill_content
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _, ngettext
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone, text_report

USAGE = "/skills [list [all] [nodesc] | show NAME | enable NAME | disable NAME | link PATH | reload]"
_SCOPES = {"user": SkillScope.USER, "workspace": SkillScope.WORKSPACE}


class SkillsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        words = arguments.split()
        match words:
            case [] | ["list", *_]:
                user.show(self._list({word.lower() for word in words[1:]}))
            case ["show", name]:
                user.show(self._show(name))
            case ["enable", name]:
                user.show(self._switched(self._switches.enable(self._row(name).skill.name)))
            case ["disable", name, *rest]:
                user.show(self._switched(self._switches.disable(self._row(name).skill.name, _scope(rest))))
            case ["link", path, *rest]:
                await self._link(path, _scope(rest), user)
            case ["reload" | "refresh"]:
                user.show(self._reload())
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            return complete_from(
                word,
                [
                    ("list", _("all skills")),
                    ("show", _("one skill with its instructions")),
                    ("enable", _("turn a skill on")),
                    ("disable", _("turn a skill off")),
                    ("link", _("use a skill in a directory where it is")),
                    ("reload", _("look for skills again")),
                ],
            )
        if word == "list":
            return complete_from(rest, [("all", _("built-in skills too")), ("nodesc", _("without descriptions"))])
        if word not in ("show", "enable", "disable"):
            return ()
        rows = skill_rows(self._skills.library, with_built_in=True)
        return complete_from(rest, dict.fromkeys((row.name, row.skill.fields.description) for row in rows))

    @property
    def _skills(self) -> SkillService:
        return self.context.toolset.services.skills

    @property
    def _switches(self) -> SkillSwitches:
        config = self.context.run_config
        return SkillSwitches(config.paths, config.roots[0], config.environment)

    def _list(self, options: set[str]) -> Report:
        if not options <= {"all", "nodesc", "desc"}:
            raise UsageError(_("Usage: {usage}", usage=USAGE))
        return listing_report(
            self.context.run_config.paths,
            self._skills.library,
            with_built_in="all" in options,
            with_descriptions="nodesc" not in options,
        )

    def _row(self, name: str) -> SkillRow:
        """Raises UsageError."""
        wanted = name.casefold()
        for row in skill_rows(self._skills.library, with_built_in=True):
            if wanted in (row.name.casefold(), row.skill.qualified_name.casefold()):
                return row
        raise UsageError(_('Skill "{name}" not found.', name=name))

    def _show(self, name: str) -> Report:
        row = self._row(name)
        content = read_skill_content(row.skill)
        return skill_report(self.context.run_config.paths, row, content.body, dict(content.sizes))

    def _switched(self, message: str) -> Report:
        came, went = self._reload_skills()
        return Report(blocks=(Paragraph(message, Tone.GOOD), *_changes(came, went)))

    def _reload_skills(self) -> tuple[frozenset[str], frozenset[str]]:
        """Look for skills again. The tool and the system prompt change with the next prompt."""
        config = replace(self.context.run_config, settings=self.context.reload_settings())
        changes = reload_skills(self.context.toolset, config)
        self.context.conversation.set_context(self.context.conversation.template.context)
        return changes

    async def _link(self, path: str, scope: SkillScope, user: UserPrompter) -> None:
        config = self.context.run_config
        try:
            messages = await SkillManager(config.paths, config.roots[0], config.environment, user).link(
                path, scope=scope
            )
        except NotAgreed as error:
            user.show(text_report(str(error)))
            return
        came, went = self._reload_skills()
        user.show(Report(blocks=(*(Paragraph(each, Tone.GOOD) for each in messages), *_changes(came, went))))

    def _reload(self) -> Report:
        came, went = self._reload_skills()
        done = Paragraph(_("Agent skills reloaded successfully."), Tone.GOOD)
        problems = (Paragraph(str(problem.message), Tone.WARNING) for problem in self._skills.library.problems[:10])
        return Report(blocks=(done, *_changes(came, went), *problems))


def _scope(words: Sequence[str]) -> SkillScope:
    match list(words):
        case []:
            return SkillScope.USER
        case ["--scope" | "-s", word] if word in _SCOPES:
            return _SCOPES[word]
        case [word] if word.removeprefix("--scope=") in _SCOPES:
            return _SCOPES[word.removeprefix("--scope=")]
        case _:
            raise UsageError(_("Usage: {usage}", usage=USAGE))


def _changes(came: frozenset[str], went: frozenset[str]) -> list[ReportBlock]:
    blocks: list[ReportBlock] = []
    if came:
        text = ngettext(
            "{count} skill added: {names}", "{count} skills added: {names}", len(came), names=", ".join(sorted(came))
        )
        blocks.append(Paragraph(text))
    if went:
        text = ngettext(
            "{count} skill removed: {names}",
            "{count} skills removed: {names}",
            len(went),
            names=", ".join(sorted(went)),
        )
        blocks.append(Paragraph(text))
    return blocks

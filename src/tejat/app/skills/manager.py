"""Installation, links, updates and removal of skills. Nothing of a skill is run."""

import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial

from tejat.app.skills.packages import (
    PackagedSkill,
    SkillRecord,
    find_packaged_skills,
    package_report,
    read_packaged_skill,
    read_record,
)
from tejat.app.skills.switches import SkillScope
from tejat.config.files.directory import make_private_directory
from tejat.config.paths import SKILL_DIRECTORIES, SKILL_FILE, AppPaths, project_key, same_directory
from tejat.config.skills.consents import remove_agreement
from tejat.config.skills.content import RECORD_FILE
from tejat.config.skills.places import SKILLS, user_skill_directories
from tejat.config.trust.renewal import persistent_trust, renew_after_change
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.i18n import _
from tejat.core.text.paths import is_beneath
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Report
from tejat.workspace.downloads.failure import DownloadFailure
from tejat.workspace.downloads.package import FetchedPackage, PackageFetcher
from tejat.workspace.downloads.placement import (
    exchange_directories,
    move_tree,
    put_in_place,
    staging_directory,
)
from tejat.workspace.downloads.source import PackageSource, SourceKind, github_host, parse_source
from tejat.workspace.downloads.tree import copy_file, copy_tree, remove_tree
from tejat.workspace.files.private_files import make_missing_directories
from tejat.workspace.http.client import HttpClient
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.threads.offload import run_blocking

SKILL_SUFFIX = ".skill"
_NO, _YES = range(2)


FAILURES = (UsageError, ConfigurationError, DownloadFailure)
"""What the methods of `SkillManager` raise, besides OSError."""


class NotAgreed(Exception):
    """The user did not agree, or there was nobody to ask."""


class SkillManager:
    """Changes the skills of the user and the project. With `agrees` nothing is asked.

    All methods raise UsageError, DownloadFailure and OSError, and then nothing has changed, and NotAgreed.
    """

    def __init__(
        self,
        paths: AppPaths,
        root: str,
        environment: Mapping[str, str],
        user: UserPrompter,
        *,
        agrees: bool = False,
        can_ask: bool = True,
    ) -> None:
        self._paths = paths
        self._root = os.path.abspath(root)
        self._environment = environment
        self._user = user
        self._agrees = agrees
        self._can_ask = can_ask

    async def install(self, source: str, *, scope: SkillScope, sub_path: str = "", ref: str = "") -> list[str]:
        """Install all skills of a source and return the messages about them."""
        place = self._place(scope)
        async with self._fetched(self._parse(source), ref) as (written, fetched):
            skills = find_packaged_skills(fetched.directory, sub_path, source)
            targets = [(each, os.path.join(place, each.name)) for each in skills]
            await self._confirm(package_report(_("Skills to install"), written, targets), _("Install these skills?"))
            for each, target in targets:
                inner = _inner_path(fetched.directory, each.directory)
                record = SkillRecord(written, fetched.type.value, ref, fetched.commit, inner)
                await run_blocking(partial(self._put_blocking, each, target, record))
        return [
            _(
                "Successfully installed skill: {name} (scope: {scope}, location: {path})",
                name=each.name,
                scope=scope.value,
                path=target,
            )
            for each, target in targets
        ]

    async def link(self, path: str, *, scope: SkillScope) -> list[str]:
        """Use the skills in a directory where they are, and return the messages about it."""
        source, place = self._link_source(path, scope), self._place(scope)
        skills = find_packaged_skills(source, "", source)
        targets = [(each, os.path.join(place, os.path.basename(each.directory))) for each in skills]
        _check_free([target for _each, target in targets])
        await self._confirm(package_report(_("Skills to link"), source, targets), _("Link these skills?"))
        with self._renewed_trust(scope, [target for _each, target in targets]):
            make_missing_directories(place)
            for each, target in targets:
                os.symlink(each.directory, target)
        return [_("Linked skill: {name} ({path})", name=each.name, path=target) for each, target in targets]

    async def uninstall(self, name: str, *, scope: SkillScope) -> str:
        """Remove a skill, of a link only the link, and return the message about it."""
        directory = self._find(name, scope)
        await self._confirm_question(_("Remove {path}?", path=directory))
        with self._renewed_trust(scope, [directory]):
            _remove(directory)
        remove_agreement(self._paths, os.path.join(directory, SKILL_FILE))
        return _('Skill "{name}" uninstalled ({path}).', name=name, path=directory)

    async def update(self, name: str, *, scope: SkillScope) -> str:
        """Install a skill again from its source if that has changed, and return the message about it."""
        directory = self._find(name, scope)
        record = read_record(directory)
        if record is None:
            raise UsageError(
                _('Skill "{name}" was not installed by `tejat skills install`: {path}', name=name, path=directory)
            )
        before = read_packaged_skill(directory)
        async with self._fetched(self._parse(record.source), record.ref) as (written, fetched):
            found = find_packaged_skills(fetched.directory, record.path, record.source)
            newer = next((each for each in found if each.name == before.name), None)
            if newer is None:
                raise UsageError(_('{source} has no skill "{name}" any more.', source=record.source, name=name))
            if newer.content.digest == before.content.digest:
                return _('Skill "{name}" is already up to date.', name=name)
            report = package_report(_("Update of a skill"), written, [(newer, directory)])
            await self._confirm(report, _("Update this skill?"))
            renewed = SkillRecord(record.source, record.type, record.ref, fetched.commit, record.path)
            await run_blocking(partial(self._put_blocking, newer, directory, renewed))
        return _('Skill "{name}" updated. Restore the old version with: tejat skills back {name}', name=name)

    def back(self, name: str, *, scope: SkillScope) -> str:
        """Exchange a skill with the version before its last update, and return the message about it."""
        directory = self._find(name, scope)
        kept = self._kept(directory)
        if not os.path.isdir(kept):
            raise UsageError(_('There is no earlier version of the skill "{name}".', name=name))
        place = os.path.dirname(directory)
        with self._renewed_trust(scope, [directory]), staging_directory(place) as staging:
            # The kept version is moved beside its place first: both must be on one file system.
            restored = os.path.join(staging, "skill")
            move_tree(kept, restored)
            exchange_directories(restored, directory)
            move_tree(restored, kept)
        return _('Skill "{name}" is back at the version before its last update.', name=name)

    def installed(self, scope: SkillScope) -> list[str]:
        """The names of the skills with a record of their source."""
        found: list[str] = []
        for place in self._places(scope):
            if os.path.isdir(place):
                names = sorted(os.listdir(place))
                found += [name for name in names if read_record(os.path.join(place, name)) is not None]
        return found

    def _link_source(self, path: str, scope: SkillScope) -> str:
        """The directory that a link shall lead to. Raises UsageError."""
        source = os.path.abspath(os.path.expanduser(path))
        if not os.path.isdir(source):
            raise UsageError(_("{path} is not a directory.", path=source))
        if scope is SkillScope.WORKSPACE and not is_beneath(os.path.realpath(source), os.path.realpath(self._root)):
            raise UsageError(
                _(
                    "{path} is outside the project, and links of a project that lead out are not followed. Use "
                    "--scope user, or install it.",
                    path=source,
                )
            )
        return source

    def _put_blocking(self, packaged: PackagedSkill, target: str, record: SkillRecord, _stop: object) -> None:
        self._put(packaged, target, record)

    def _put(self, packaged: PackagedSkill, target: str, record: SkillRecord) -> None:
        """Copy a skill into its place in one step. What was there is kept."""
        place = os.path.dirname(target)
        scope = SkillScope.WORKSPACE if is_beneath(target, self._root) and not self._is_home else SkillScope.USER
        with self._renewed_trust(scope, [target]):
            os.makedirs(place, mode=0o755 if scope is SkillScope.WORKSPACE else 0o700, exist_ok=True)
            with staging_directory(place) as staging:
                tree = os.path.join(staging, "skill")
                copy_tree(packaged.directory, tree, stop=lambda: None)
                with open(os.path.join(tree, RECORD_FILE), "w", encoding="utf-8") as file:
                    file.write(record.to_text())
                if os.path.islink(target):
                    raise UsageError(_("{path} is a link. Remove it first.", path=target))
                if os.path.isdir(target):
                    exchange_directories(tree, target)
                    self._keep(tree, target)
                else:
                    put_in_place(tree, target)

    def _keep(self, old: str, target: str) -> None:
        kept = self._kept(target)
        make_private_directory(os.path.dirname(kept))
        if os.path.isdir(kept):
            remove_tree(kept)
        move_tree(old, kept)

    def _kept(self, directory: str) -> str:
        """Where the version before the last update is."""
        return os.path.join(self._paths.replaced_skills, project_key(directory))

    def _find(self, name: str, scope: SkillScope) -> str:
        """The directory of a skill of the user or the project, the strongest one. Raises UsageError."""
        for place in reversed(self._places(scope)):
            for entry in sorted(os.listdir(place)) if os.path.isdir(place) else ():
                directory = os.path.join(place, entry)
                if not os.path.isfile(os.path.join(directory, SKILL_FILE)):
                    continue
                try:
                    found = read_packaged_skill(directory).name
                except ConfigurationError:
                    found = entry
                if name.casefold() in (entry.casefold(), found.casefold()):
                    return directory
        raise UsageError(_('Skill "{name}" not found in the {scope} scope.', name=name, scope=scope.value))

    def _place(self, scope: SkillScope) -> str:
        """The directory that skills are installed in."""
        if scope is SkillScope.USER or self._is_home:
            return os.path.join(self._paths.gemini, SKILLS)
        return os.path.join(self._root, ".gemini", SKILLS)

    def _places(self, scope: SkillScope) -> list[str]:
        if scope is SkillScope.USER:
            return list(user_skill_directories(self._paths))
        return [os.path.join(self._root, name) for name in SKILL_DIRECTORIES]

    @property
    def _is_home(self) -> bool:
        return any(same_directory(self._root, home) for home in self._paths.homes)

    def _parse(self, text: str) -> PackageSource:
        path = os.path.abspath(os.path.join(self._root, os.path.expanduser(text)))
        if text.endswith(SKILL_SUFFIX) and os.path.isfile(path):
            return PackageSource(SourceKind.ARCHIVE, path, path)
        return parse_source(text, directory=self._root, github=github_host(self._environment))

    @asynccontextmanager
    async def _fetched(self, source: PackageSource, ref: str) -> AsyncGenerator[tuple[str, FetchedPackage]]:
        """The package in a private directory, which is removed at the end."""
        http, supervisor = HttpClient(environment=self._environment), ProcessSupervisor()
        parent = make_private_directory(os.path.dirname(self._paths.skill_cache))
        try:
            with staging_directory(parent) as staging:
                if source.address.endswith(SKILL_SUFFIX):
                    # The format is that of a zip file, which is recognized by its name.
                    packed = os.path.join(staging, "package.zip")
                    await run_blocking(lambda _stop: copy_file(source.address, packed, stop=lambda: None))
                    source = PackageSource(SourceKind.ARCHIVE, source.written, packed)
                fetcher = PackageFetcher(
                    http=http,
                    supervisor=supervisor,
                    environment=self._environment,
                    github=github_host(self._environment),
                )
                # A repository of skills is cloned: releases are for extensions.
                plain = PackageSource(source.kind, source.written, source.address)
                yield source.written, await fetcher.fetch(plain, staging, marker=SKILL_FILE, ref=ref)
        finally:
            supervisor.close()
            await http.close()

    async def _confirm(self, report: Report, question: str) -> None:
        """Raises NotAgreed unless the user agrees to what is shown."""
        self._user.show(report)
        await self._confirm_question(question)

    async def _confirm_question(self, question: str) -> None:
        if self._agrees:
            return
        if not self._can_ask:
            raise NotAgreed(_("No terminal to ask on. Use --yes to agree to what is shown."))
        choice = Choice(question, (Option(_("No")), Option(_("Yes"))), initial=_NO, is_critical=True)
        if await self._user.choose(choice) != _YES:
            raise NotAgreed(_("Nothing was changed."))

    @contextmanager
    def _renewed_trust(self, scope: SkillScope, changed: Sequence[str]) -> Generator[None]:
        """Keep the trust in the project if it was trusted and nothing but these directories changes."""
        if scope is SkillScope.USER or self._is_home:
            yield
            return
        before = persistent_trust(self._paths, self._root, self._environment)
        yield
        relative = [os.path.relpath(path, self._root) for path in changed]
        renew_after_change(self._paths, self._root, before, relative, environment=self._environment)


def _inner_path(top: str, directory: str) -> str:
    """The path of a skill inside of its package, empty for the top."""
    inner = os.path.relpath(os.path.realpath(directory), os.path.realpath(top))
    return "" if inner == "." else inner


def _check_free(targets: Sequence[str]) -> None:
    for target in targets:
        if os.path.lexists(target):
            raise UsageError(_("{path} exists already. Remove it first.", path=target))


def _remove(directory: str) -> None:
    if os.path.islink(directory):
        os.unlink(directory)
    else:
        remove_tree(directory)

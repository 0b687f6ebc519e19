"""Discovery of skills: all places, their precedence, and the names that skills are called by."""

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from tejat.config.files.parse_cache import ParseCache, file_identity
from tejat.config.files.reader import AllowedWriters, allowed_writers, check_status
from tejat.config.files.real_paths import RealPaths
from tejat.config.paths import SKILL_FILE, AppPaths, SourceTier
from tejat.config.skills.places import SkillPlace
from tejat.config.skills.skill import CODEX_FILE, Skill, SkillFields
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.provenance import Party, Provenance
from tejat.core.text.paths import is_beneath

MAX_SKILLS = 500
"""In one directory."""
MAX_DIRECTORIES = 2000
"""Entries of one directory that are looked at."""

_CACHE_VERSION = "1"
_PREFIXES = frozenset(Party)
"""What qualified names of other skills begin with. No extension can be called so."""
_SKIPPED = frozenset({"node_modules", ".git"})


class SkillProblem(Frozen):
    """Why a skill is not used, or what is wrong with it. `digest` changes with the content of the file."""

    path: str
    message: str
    digest: str = ""


class SkillLibrary(Frozen):
    """All skills that were found.

    `skills` are in use, sorted by the name that they are called by. `disabled` are switched off by name, `replaced`
    are pairs of a skill in use and one of a lower precedence with the same name.
    """

    skills: tuple[Skill, ...] = ()
    disabled: tuple[Skill, ...] = ()
    replaced: tuple[tuple[Skill, Skill], ...] = ()
    problems: tuple[SkillProblem, ...] = ()

    @property
    def catalogue(self) -> tuple[Skill, ...]:
        """The skills that the model may activate."""
        return tuple(skill for skill in self.skills if skill.fields.is_model_invocable)

    def find(self, name: str) -> Skill | None:
        """Find a skill in use by its name or its qualified name, whatever the case."""
        wanted = name.strip().casefold()
        for skill in self.skills:
            if skill.call_name.casefold() == wanted:
                return skill
        return next((skill for skill in self.skills if skill.qualified_name.casefold() == wanted), None)


def find_skills(
    paths: AppPaths,
    places: Iterable[SkillPlace],
    *,
    disabled: Collection[str] = (),
    pins: Mapping[str, str] | None = None,
    uses_cache: bool = True,
) -> SkillLibrary:
    """Find the skills in these places, lowest precedence first.

    `pins` are the digests of files by their path from the project root: skills of the project without one are not
    used. None pins nothing. Raises nothing: unusable skills are reported in the problems.
    """
    search = _SkillSearch(ParseCache(paths.skill_cache, version=_CACHE_VERSION) if uses_cache else None, pins)
    for place in places:
        search.add(place)
    search.save()
    return _resolve_names(search.found, frozenset(map(str.casefold, disabled)), search.problems)


class _SkillSearch:
    def __init__(self, cache: ParseCache | None, pins: Mapping[str, str] | None) -> None:
        self.found: dict[tuple[int, int], Skill] = {}
        self.problems: list[SkillProblem] = []
        self._cache = cache
        self._pins = pins
        self._real_paths = RealPaths()

    def save(self) -> None:
        if self._cache is not None:
            self._cache.save()

    def add(self, place: SkillPlace) -> None:
        """Add the skills in a directory: itself if it is one, else those in it."""
        if place.party is Party.EXTENSION and place.extension.lower() in _PREFIXES:
            message = lazy(
                "Ignoring the skills of the extension {name}: its name is reserved for other skills.",
                name=place.extension,
            )
            self._report(place.directory, message)
            return
        try:
            with os.scandir(place.directory) as entries:
                links = {entry.name: entry.is_symlink() for entry in entries}
            if place.party in (Party.USER, Party.MACHINE):
                check_status(os.stat(place.directory), place.directory, self._writers(place))
            self._refuse_outside(place, place.directory)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._report(
                place.directory, lazy("Could not read {path}: {why}.", path=place.directory, why=error.strerror)
            )
            return
        except ConfigurationError as error:
            self._report(place.directory, str(error))
            return
        if SKILL_FILE in links:
            self._add_skill(place, place.directory, place.relative)
            return
        count = 0
        for name in sorted(links)[:MAX_DIRECTORIES]:
            if name in _SKIPPED or count == MAX_SKILLS:
                continue
            directory, relative = os.path.join(place.directory, name), f"{place.relative}/{name}"
            count += self._add_skill(place, directory, relative, is_link=links[name])
        if len(links) > MAX_DIRECTORIES or count == MAX_SKILLS:
            message = lazy(
                "{directory} contains more than {most} skills. The rest is ignored.",
                directory=place.directory,
                most=MAX_SKILLS,
            )
            self._report(place.directory, message)

    def _add_skill(self, place: SkillPlace, directory: str, relative: str, *, is_link: bool = False) -> bool:
        """Add the skill of a directory, which may be a link, and return whether it has a SKILL.md."""
        path = os.path.join(directory, SKILL_FILE)
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                is_link, status = True, os.stat(path)
        except OSError:
            if os.path.islink(path):
                self._report(path, lazy("Skipped {path}: the link leads nowhere.", path=path))
            return False
        identity = file_identity(status)
        try:
            if is_link:
                self._refuse_outside(place, path)
            if place.party in (Party.USER, Party.MACHINE):
                check_status(status, path, self._writers(place))
            pin = self._find_pin(place, relative)
            codex = _codex_status(directory)
            _refuse_changed(place, path, status)
            if codex is not None:
                _refuse_changed(place, f"{directory}/{CODEX_FILE}", codex)
            key = identity if codex is None else f"{identity} {file_identity(codex)}"
            fields = self._read(path, directory, key)
        except ConfigurationError as error:
            self._report(
                path, lazy("Skipped the skill {path}: {why}.", path=path, why=str(error).rstrip(".")), identity
            )
            return True
        # The same directory may be linked from several places: the highest precedence counts.
        provenance = Provenance(place.party, path, place.extension)
        self.found.pop((status.st_dev, status.st_ino), None)
        self.found[status.st_dev, status.st_ino] = Skill(fields, directory, provenance, pin=pin)
        for note in fields.notes:
            self._report(path, lazy("{path}: {note}.", path=path, note=note), identity)
        return True

    def _find_pin(self, place: SkillPlace, relative: str) -> str:
        if place.party is not Party.PROJECT or self._pins is None:
            return ""
        pin = self._pins.get(f"{relative}/{SKILL_FILE}")
        if pin is None:
            raise ConfigurationError(lazy("it is new since this folder was trusted. See `tejat trust`"))
        return pin

    def _refuse_outside(self, place: SkillPlace, path: str) -> None:
        if place.confined_to and not is_beneath(self._real_paths.find(path), place.confined_to):
            raise ConfigurationError(
                lazy("it points outside the project")
                if place.party is Party.PROJECT
                else lazy("it points outside the extension")
            )

    def _writers(self, place: SkillPlace) -> AllowedWriters:
        tier = SourceTier.ADMIN if place.party is Party.MACHINE else SourceTier.USER
        return allowed_writers(place.directory, tier)

    def _read(self, path: str, directory: str, key: str) -> SkillFields:
        """The fields of a skill, whose files are as `key` says. Raises ConfigurationError."""
        if self._cache is None:
            return _parse(path, directory)
        known = self._cache.get(path, key)
        if isinstance(known, str):
            raise ConfigurationError(known)
        if isinstance(known, Mapping):
            return _from_json(known)
        try:
            fields = _parse(path, directory)
        except ConfigurationError as error:
            self._cache.put(path, key, str.__str__(str(error)))
            raise
        self._cache.put(path, key, _to_json(fields))
        return fields

    def _report(self, path: str, message: str, digest: str = "") -> None:
        self.problems.append(SkillProblem(path, message, digest))


def _parse(path: str, directory: str) -> SkillFields:
    """Raises ConfigurationError."""
    # Imported late: most skills are known from an earlier start.
    from tejat.config.skills.skill_file import parse_skill, read_skill_text

    return parse_skill(read_skill_text(path), directory)[0]


def _codex_status(directory: str) -> os.stat_result | None:
    try:
        return os.stat(f"{directory}/{CODEX_FILE}")
    except OSError:
        return None


def _refuse_changed(place: SkillPlace, path: str, status: os.stat_result) -> None:
    """Raise ConfigurationError for a file of an extension that is not as it was agreed to."""
    if place.pinned is not None and (reason := place.pinned.find_file_change(path, status)):
        raise ConfigurationError(lazy("{why}.", why=reason))


def _to_json(fields: SkillFields) -> JsonObject:
    return {name: getattr(fields, name) for name in SkillFields.__match_args__}


def _from_json(value: Mapping[str, JsonValue]) -> SkillFields:
    read = {name: tuple(item) if isinstance(item, list) else item for name, item in value.items()}
    return SkillFields(**cast("dict[str, object]", read))  # pyright: ignore[reportArgumentType]


def _resolve_names(
    found: Mapping[tuple[int, int], Skill], disabled: frozenset[str], problems: Sequence[SkillProblem]
) -> SkillLibrary:
    """Give each skill its name: the bare one to the highest precedence, qualified ones to those of extensions."""
    off: list[Skill] = []
    names: dict[str, list[Skill]] = {}
    for skill in found.values():
        if disabled.isdisjoint((skill.name.casefold(), skill.qualified_name.casefold())):
            names.setdefault(skill.name.casefold(), []).append(skill)
        else:
            off.append(replace(skill, call_name=skill.name))
    used: list[Skill] = []
    replaced: list[tuple[Skill, Skill]] = []
    for candidates in names.values():
        extensions = [skill for skill in candidates if skill.provenance.party is Party.EXTENSION]
        own = [skill for skill in candidates if skill.provenance.party is not Party.EXTENSION]
        if own:
            used.append(replace(own[-1], call_name=own[-1].name))
            replaced += [(used[-1], skill) for skill in own[:-1]]
        is_unique = not own and len(extensions) == 1
        used += [replace(skill, call_name=skill.name if is_unique else skill.qualified_name) for skill in extensions]
    used.sort(key=lambda skill: (skill.call_name.casefold(), skill.call_name))
    return SkillLibrary(tuple(used), tuple(off), tuple(replaced), tuple(problems))

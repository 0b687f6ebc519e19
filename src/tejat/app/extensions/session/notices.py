"""What the user is told about extensions when a session starts."""

import os
from collections.abc import Sequence

from tejat.config.extensions.consent_store import ConsentParty, ExtensionConsent
from tejat.config.extensions.loader import ExtensionState, FoundExtension, overlaps
from tejat.config.files.reported import report_new
from tejat.config.paths import AppPaths
from tejat.core.i18n import _, ngettext

_BYTES_PER_TOKEN = 4
_MAX_DESCRIBED = 10


def left_out_warnings(found: Sequence[FoundExtension]) -> list[str]:
    """The warnings about extensions that cannot be used."""
    return [_left_out_note(each) for each in found if each.state in (ExtensionState.CHANGED, ExtensionState.BROKEN)]


def extension_notes(
    paths: AppPaths, found: Sequence[FoundExtension], roots: Sequence[str], *, is_session: bool
) -> tuple[str, ...]:
    """The notes about links that are not followed here, and once about extensions that were taken over or are new."""
    notes = [
        _(
            "The extension {name} is linked from {path}, which is in the workspace: its changes are not followed here.",
            name=each.name,
            path=paths.abbreviate(each.path),
        )
        for each in found
        if each.consent is not None
        and each.consent.follows
        and each.state in (ExtensionState.ENABLED, ExtensionState.CHANGED)
        and any(overlaps(each.path, root) for root in roots)
    ]
    return (*notes, *_once(paths, found)) if is_session else tuple(notes)


def _left_out_note(found: FoundExtension) -> str:
    if found.state is ExtensionState.CHANGED:
        return _(
            "The extension {name} is not used: {reason}. Run `tejat extensions review {name}`.",
            name=found.name,
            reason=found.reason,
        )
    return _("The extension {name} is not used: {reason}.", name=found.name, reason=found.reason)


def _once(paths: AppPaths, found: Sequence[FoundExtension]) -> list[str]:
    taken = {
        each.directory: each
        for each in found
        if each.state is ExtensionState.ENABLED
        and each.consent is not None
        and each.consent.party is ConsentParty.GEMINI
    }
    waiting = {each.directory: each for each in found if each.state in (ExtensionState.NEW, ExtensionState.BLOCKED)}
    facts = {directory: _fact(each) for directory, each in (*taken.items(), *waiting.items())}
    new = report_new(paths.reported_extensions, facts) if facts else ()
    notes: list[str] = []
    if described := [_describe(taken[directory]) for directory in new if directory in taken]:
        notes.append(
            ngettext(
                "Using {count} extension installed by Gemini CLI: {names}. `tejat extensions review NAME` shows it.",
                "Using {count} extensions installed by Gemini CLI: {names}. `tejat extensions review NAME` shows one.",
                len(described),
                names=_some(described),
            )
        )
    return [*notes, *(_waiting_note(waiting[directory]) for directory in new if directory in waiting)]


def _fact(found: FoundExtension) -> str:
    agreed_at = 0 if found.consent is None else found.consent.agreed_at
    return f"{found.state.value} {agreed_at}" if found.state is ExtensionState.ENABLED else found.state.value


def _waiting_note(found: FoundExtension) -> str:
    if found.state is ExtensionState.BLOCKED:
        return _("The extension {name} is blocked: {reason}.", name=found.name, reason=found.reason.removesuffix("."))
    return _(
        "The extension {name} is new and not used yet: {reason}. Run `tejat extensions review {name}`.",
        name=found.name,
        reason=found.reason,
    )


def _describe(found: FoundExtension) -> str:
    """The name of an extension, and what it adds."""
    assert found.consent is not None
    parts = _parts(found, found.consent)
    return f"{found.name} ({', '.join(parts)})" if parts else found.name


def _parts(found: FoundExtension, consent: ExtensionConsent) -> list[str]:
    names = [(relative, os.path.basename(relative)) for relative in consent.declared]
    servers = 0 if found.manifest is None else len(found.manifest.server_names)
    commands = sum(relative.startswith("commands/") and name.endswith(".toml") for relative, name in names)
    skills = sum(relative.startswith("skills/") and name == "SKILL.md" for relative, name in names)
    agents = sum(relative.startswith("agents/") for relative, _name in names)
    context = () if found.manifest is None else found.manifest.possible_context_files
    size = sum(pin.identity.size for relative, pin in consent.declared.items() if relative in context)
    counted = [
        (servers, ngettext("{count} MCP server", "{count} MCP servers", servers)),
        (commands, ngettext("{count} command", "{count} commands", commands)),
        (int("hooks/hooks.json" in consent.declared), _("hooks")),
        (skills, ngettext("{count} skill", "{count} skills", skills)),
        (agents, ngettext("{count} agent", "{count} agents", agents)),
        (size, _("about {count} tokens of context", count=max(1, size // _BYTES_PER_TOKEN))),
    ]
    return [text for count, text in counted if count]


def _some(described: Sequence[str]) -> str:
    shown = "; ".join(described[:_MAX_DESCRIBED])
    if len(described) <= _MAX_DESCRIBED:
        return shown
    return _("{names} and {count} more", names=shown, count=len(described) - _MAX_DESCRIBED)

"""The installed extensions as text and as JSON. Values of secret settings are in neither."""

from collections.abc import Iterable

from tejat.app.extensions.description.contents import ExtensionContents
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.extensions.settings_dialog import format_value
from tejat.config.extensions.install_record import extension_id
from tejat.config.extensions.loader import ExtensionState, FoundExtension, FoundExtensions
from tejat.config.extensions.settings_values import StoredValue, find_missing
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext, translate
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line
from tejat.core.text.secret_mask import MASK
from tejat.core.ui.report import Paragraph, Report, ReportBlock, Tone, text_report


class ListedExtension(Frozen):
    """An extension with what it brings and the values of its settings; None where it cannot be read."""

    found: FoundExtension
    contents: ExtensionContents | None
    values: dict[str, StoredValue]


def list_extensions(environment: ExtensionEnvironment) -> tuple[FoundExtensions, list[ListedExtension]]:
    """All extensions as they are now. Nothing of them is run."""
    found = environment.find_all()
    return found, [_read(environment, each) for each in found.extensions]


def listing_report(environment: ExtensionEnvironment, *, with_tokens: bool = False) -> Report:
    """One paragraph for each extension, and the problems with shared files."""
    found, listed = list_extensions(environment)
    blocks: list[ReportBlock] = [Paragraph(translate(problem), Tone.BAD) for problem in found.problems]
    if not listed and not blocks:
        return text_report(_("No extensions installed."))
    blocks += [Paragraph("\n".join(_lines(each, with_tokens=with_tokens)), _tone(each.found.state)) for each in listed]
    return Report(blocks=tuple(blocks))


def listing_json(environment: ExtensionEnvironment) -> list[JsonObject]:
    """All extensions with the field names of Gemini CLI, and ours: state, reason and tokens."""
    return [_to_json(each) for each in list_extensions(environment)[1]]


def _read(environment: ExtensionEnvironment, found: FoundExtension) -> ListedExtension:
    try:
        contents = environment.read_contents(found)
        return ListedExtension(found, contents, environment.settings_store(found).read(contents.manifest))
    except (ExtensionFailure, ConfigurationError):
        return ListedExtension(found, None, {})


def _lines(listed: ListedExtension, *, with_tokens: bool) -> list[str]:
    found, contents = listed.found, listed.contents
    version = "" if found.manifest is None else f" {found.manifest.version}"
    reason = f" ({translate(found.reason)})" if found.reason else ""
    lines = [f"{found.name}{version}: {found.state.value}{reason}"]
    if found.manifest is not None and found.manifest.description:
        lines.append(f"  > {found.manifest.description}")
    if found.record is not None:
        lines.append("  " + _("Source: {source}", source=_source(found)))
    lines.append("  " + _("Path: {path}", path=found.path))
    if found.manifest is not None and found.manifest.name != found.directory.rpartition("/")[2]:
        lines.append("  " + _("Its directory has another name: {path}", path=found.directory))
    if contents is not None:
        kinds = (
            (_("Context files"), [text.name for text in contents.context]),
            (_("MCP servers"), contents.servers),
            (_("Hooks"), [hook.name for hook in contents.hooks]),
            (_("Commands"), [f"/{name}" for name in contents.commands]),
            (_("Skills"), [skill.name for skill in contents.skills]),
            (_("Agents"), [agent.name for agent in contents.agents]),
            (_("Rules"), [rule.source for rule in contents.rules]),
            (_("Excluded tools"), [entry.value for entry in contents.manifest.excluded_tools]),
        )
        lines += [f"  {label}: {', '.join(dict.fromkeys(names))}" for label, names in kinds if names]
        lines += [f"  {format_value(setting, listed.values)}" for setting in contents.manifest.settings]
        missing = [setting.name for setting in find_missing(contents.manifest, listed.values)]
        if missing:
            lines.append("  " + _("missing settings: {names}", names=", ".join(missing)))
        tokens = ngettext("{count} token per request", "{count} tokens per request", contents.tokens)
        lines.append(f"  {tokens}")
        lines += _token_lines(contents) if with_tokens else []
        lines += [f"  {translate(problem)}" for problem in contents.problems]
    return [sanitize_line(line) for line in lines]


def _token_lines(contents: ExtensionContents) -> Iterable[str]:
    parts = [(text.name, text.tokens) for text in contents.context]
    parts += [(each.name, each.catalogue_tokens) for each in (*contents.skills, *contents.agents)]
    return [f"    {tokens:>7,}  {name}" for name, tokens in parts]


def _source(found: FoundExtension) -> str:
    record = found.record
    assert record is not None
    ref = f" {record.ref}" if record.ref else ""
    tag = f" {record.release_tag}" if record.release_tag else ""
    return f"{record.source} ({record.type.value}{ref}{tag})"


def _tone(state: ExtensionState) -> Tone:
    match state:
        case ExtensionState.ENABLED:
            return Tone.PLAIN
        case ExtensionState.DISABLED:
            return Tone.QUIET
        case ExtensionState.BROKEN:
            return Tone.BAD
        case _:
            return Tone.WARNING


def _to_json(listed: ListedExtension) -> JsonObject:
    found, contents = listed.found, listed.contents
    result: dict[str, JsonValue] = {
        "name": found.name,
        "version": "" if found.manifest is None else found.manifest.version,
        "id": extension_id(found.name, found.record),
        "path": found.path,
        "isActive": found.state is ExtensionState.ENABLED,
        "state": found.state.value,
        "reason": str(found.reason),
        "installMetadata": None if found.record is None else found.record.to_json(),
    }
    if contents is None:
        return result
    settings = contents.manifest.settings
    return {
        **result,
        "contextFiles": [f"{found.path}/{text.name}" for text in contents.context],
        "mcpServers": list(contents.servers),
        "excludeTools": [entry.value for entry in contents.manifest.excluded_tools],
        "commands": list(contents.commands),
        "hooks": [{"event": hook.event_name, "command": hook.command} for hook in contents.hooks],
        "skills": [{"name": skill.name, "description": skill.description} for skill in contents.skills],
        "agents": [{"name": agent.name, "description": agent.description} for agent in contents.agents],
        "settings": [
            {
                "name": setting.name,
                "description": setting.description,
                "envVar": setting.variable,
                "sensitive": setting.is_sensitive,
            }
            for setting in settings
        ],
        "resolvedSettings": [
            {
                "name": setting.name,
                "envVar": setting.variable,
                "value": _shown_value(listed, setting.variable, is_secret=setting.is_sensitive),
                "sensitive": setting.is_sensitive,
                "scope": listed.values[setting.variable].scope.value if setting.variable in listed.values else None,
            }
            for setting in settings
        ],
        "tokens": contents.tokens,
    }


def _shown_value(listed: ListedExtension, variable: str, *, is_secret: bool) -> str:
    found = listed.values.get(variable)
    if found is None:
        return "[not set]"
    return MASK if is_secret else found.value

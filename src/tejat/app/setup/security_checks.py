"""Checks of authentication, variables, MCP servers and telemetry for `tejat doctor`."""

from collections.abc import Iterator

from tejat.app.authentication import GATEWAY, GEMINI_API_KEY, SIGN_IN_TYPES, VERTEX_AI, auth_type_of, selected_auth_type
from tejat.app.diagnostics.telemetry import telemetry_options
from tejat.app.model_source import DEFAULT_MODEL, configured_model, resolve_name, settings_of_service
from tejat.app.run_config import RunConfig
from tejat.app.setup.fixes import fault_fix, source_fix
from tejat.config.settings.admin import mcp_disabled_message, required_servers, unlisted_source
from tejat.config.settings.file import SettingKey
from tejat.config.settings.types import configured_servers
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_AUTHENTICATION, EXIT_CONFIGURATION
from tejat.core.i18n import lazy
from tejat.core.text.token_shapes import has_key_shape
from tejat.models.names import with_provider

_KNOWN_TYPES = frozenset({GEMINI_API_KEY, VERTEX_AI, GATEWAY, *SIGN_IN_TYPES})
_KEPT_KEYS = ("security.allowedExtensions", "security.blockGitExtensions", "extensions.disabled")
"""Restrictions that hold because there are no extensions yet."""


def security_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """Check what protects a run. Raises nothing."""
    yield from _authentication_checks(run_config)
    yield from _variable_checks(run_config)
    yield from _server_checks(run_config)
    yield from _telemetry_checks(run_config)
    yield from _extension_checks(run_config)


def _authentication_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    group, settings = lazy("authentication"), run_config.settings
    selected, enforced = selected_auth_type(settings, run_config.environment), settings.enforced_auth_type
    if selected is not None and selected.value in SIGN_IN_TYPES:
        detail = lazy(
            "{type} ({source}): Tejat has no Google sign-in; an API key or Vertex AI is used instead",
            type=selected.value,
            source=selected.source,
        )
        fix = "export GEMINI_API_KEY=YOUR_KEY"
        yield DoctorCheck(group, lazy("selected"), passed=False, detail=detail, fix=fix)
    elif selected is not None:
        is_known = selected.value in _KNOWN_TYPES
        detail = lazy("{type} ({source})", type=selected.value, source=selected.source)
        fix = "" if is_known else source_fix(selected.source)
        yield DoctorCheck(group, lazy("selected"), is_known, detail, fix=fix)
    if enforced is None:
        return
    try:
        name = _model_name(run_config)
        used = auth_type_of(name, settings_of_service(name, run_config), run_config.environment)
    except UsageError:
        return  # the check of the model's name says it
    detail = lazy(
        "{type} ({source}); this run would use {used}", type=enforced.value, source=enforced.source, used=used or "none"
    )
    is_met = used in (None, enforced.value)
    code, fix = (0, "") if is_met else (EXIT_AUTHENTICATION, source_fix(enforced.source))
    yield DoctorCheck(group, lazy("enforced"), is_met, detail, exit_code=code, fix=fix)


def _model_name(run_config: RunConfig) -> str:
    """Raises UsageError."""
    name = configured_model(run_config) or with_provider(DEFAULT_MODEL, run_config.environment)
    return resolve_name(name, run_config)


def _variable_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    group, settings = lazy("environment"), run_config.settings
    redaction = settings.environment_redaction
    if redaction is not None and not redaction.value:
        detail = lazy("{source}: read, but only listed variables are passed to commands", source=redaction.source)
        yield DoctorCheck(group, lazy("redaction"), passed=True, detail=detail)
    blocked = {entry.value.upper(): entry.source for entry in settings.environment_blocked}
    for name in settings.environment_allowed.value:
        if name.upper() in blocked:
            detail = lazy("{name}: {source} blocks it", name=name, source=blocked[name.upper()])
            fix = source_fix(blocked[name.upper()])
            yield DoctorCheck(group, lazy("not passed on"), passed=False, detail=detail, fix=fix)
        elif has_key_shape(run_config.environment.get(name, "")):
            detail = lazy("{name}: its value looks like a key", name=name)
            fix = source_fix(settings.environment_allowed.source)
            yield DoctorCheck(group, lazy("not passed on"), passed=False, detail=detail, fix=fix)


def _server_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    group, settings = lazy("MCP servers"), run_config.settings
    if not settings.mcp_enabled.value:
        detail = mcp_disabled_message(settings)
        fix = source_fix(settings.mcp_enabled.source)
        yield DoctorCheck(group, lazy("disabled"), passed=False, detail=detail, fix=fix)
    for name, server in configured_servers(settings).items():
        if server.value.unknown_fields:
            names = ", ".join(server.value.unknown_fields)
            detail = lazy("{server} ({source}): {names}", server=name, source=server.source, names=names)
            fix = source_fix(server.source)
            yield DoctorCheck(group, lazy("unknown fields"), passed=False, detail=detail, fix=fix)
        source = unlisted_source(settings, name)
        if source is not None:
            detail = lazy("{server}: admin.mcp.config in {source} does not list it", server=name, source=source)
            yield DoctorCheck(group, lazy("not started"), passed=False, detail=detail, fix=source_fix(source))
    for name, server in required_servers(settings).items():
        trust = lazy("trusted") if server.value.is_trusted else lazy("not trusted; to trust it, set trust there")
        detail = lazy("{server} ({source}), {trust}", server=name, source=server.source, trust=trust)
        yield DoctorCheck(group, lazy("required"), passed=True, detail=detail)


def _telemetry_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    group = lazy("telemetry")
    try:
        options = telemetry_options(run_config.settings, run_config.environment, run_config.roots[0])
    except ConfigurationError as error:
        fix = fault_fix(error)
        yield DoctorCheck(group, lazy("error"), passed=False, detail=str(error), exit_code=EXIT_CONFIGURATION, fix=fix)
        return
    if options.outfile is not None:
        yield DoctorCheck(group, lazy("file"), passed=True, detail=options.outfile)
    if options.export is not None:
        detail = lazy("{source}: read, has no effect: nothing is sent", source=options.export.source)
        yield DoctorCheck(group, lazy("no effect"), passed=True, detail=detail)


def _extension_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    for file in run_config.settings_files:
        for key in _KEPT_KEYS:
            try:
                found = file.find(SettingKey(key))
            except ConfigurationError:
                continue  # reported as an error of the file
            if found is not None:
                detail = lazy("{source} {key}: kept, because no extension is loaded", source=found.source, key=key)
                yield DoctorCheck(lazy("settings"), lazy("kept"), passed=True, detail=detail)

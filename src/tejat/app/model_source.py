"""The model of a run: live, recorded or replayed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.app.authentication import is_keyless_gateway, require_auth_type, without_sign_in
from tejat.app.run_config import RunConfig
from tejat.config.paths import SourceTier
from tejat.config.settings.types import DEFAULT_SETTINGS, Setting, Settings
from tejat.core.agent.model_chain import ChainLink, ModelChain
from tejat.core.agent.options import AgentOptions
from tejat.core.agent.prices import Price
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject
from tejat.core.model import Model, ModelClient, ModelFailure
from tejat.engine.models.conversation_models import ROUTER_PURPOSE, ConversationModels
from tejat.engine.models.fallback import ChainFallback, SingleFallback
from tejat.engine.sessions.session_id import new_session_id
from tejat.models import ModelOptions, open_model
from tejat.models.catalogue.aliases import resolve_alias
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.names import Provider, parse_model_name, with_provider

if TYPE_CHECKING:
    from tejat.core.approval.confirmation import Approver
    from tejat.engine.models.fallback import ModelFallback
    from tejat.engine.models.router import PromptRouter, RouterModels
    from tejat.models.discovery.model_list import ModelLister
    from tejat.models.presets.selection import ModelSelector

DEFAULT_MODEL = "auto"


class RunModel(Frozen):
    """A model with the session id of its run, which is the recorded one for a replay. `notes` are for the user.

    `plans_id` names the private plan directory of that session. A replay has one of its own, because the recorded
    session may still have its plans.
    """

    model: ModelClient
    session_id: str
    plans_id: str
    recorded_at: float | None = None
    recording_problem: Callable[[], str | None] = lambda: None
    notes: tuple[str, ...] = ()
    prices: Mapping[str, Price] = MappingProxyType({})
    """Prices that the model of the program has itself."""


def open_run_model(options: AgentOptions, run_config: RunConfig) -> RunModel:
    """Open the model for the options. Raises UsageError, and ModelFailure without a key for the model."""
    session_id = options.session_id or new_session_id()
    plans_id = session_id if options.replay is None else new_session_id()
    root, paths = run_config.roots[0], run_config.paths
    placeholders = {
        root: "${root}",
        os.path.realpath(paths.session_plans(root, plans_id)): "${plans}",
        paths.state: "${state}",
        current_date(): "${date}",
    }
    if options.replay is not None:
        from tejat.models.recording.replay import open_replay

        replay = open_replay(options.replay, placeholders=placeholders, secrets=run_config.secrets)
        began = replay.header.get("began")
        recorded_at = began if isinstance(began, int | float) else 0.0
        return RunModel(replay, str(replay.header.get("session")), plans_id, recorded_at)
    if options.client is not None:
        model, prices = open_custom_model(options.client, run_config)
        notes = ()
    else:
        attempts = model_chain(requested_model(options, run_config), run_config).links[0].attempts
        model, prices = open_named_model(options.model, run_config, max_attempts=attempts), dict[str, Price]()
        notes = alias_notes(options.model or configured_model(run_config), run_config)
    if options.record is not None:
        from tejat.models.recording.recorder import RecordingModel

        header = {"session": session_id, "began": round(time.time(), 3)}
        recording = RecordingModel(
            model, options.record, placeholders=placeholders, secrets=run_config.secrets, header=header
        )
        return RunModel(recording, session_id, plans_id, None, lambda: recording.problem, notes, prices)
    return RunModel(model, session_id, plans_id, notes=notes, prices=prices)


def open_custom_model(model: Model, run_config: RunConfig) -> tuple[ModelClient, dict[str, Price]]:
    """Open a model of the embedding program, with the retries of all models, and its price. Raises TypeError."""
    from tejat.models.custom.client import CustomModelClient
    from tejat.models.retry import RetryingModel

    client = CustomModelClient(model)
    attempts = run_config.settings.max_attempts.value
    return RetryingModel(client, max_attempts=attempts), {} if client.price is None else {client.name: client.price}


def configured_model(run_config: RunConfig) -> str | None:
    """The model name of the environment or the settings, None if there is none."""
    configured = run_config.settings.model_name
    return None if configured is None else configured.value


def open_named_model(name: str | None, run_config: RunConfig, *, max_attempts: int | None = None) -> ModelClient:
    """Open the model of this name, or the configured one. Raises UsageError and ModelFailure.

    The client of an alias has the name of the model that the alias stands for. `max_attempts` replaces the setting.
    """
    environment = run_config.environment
    name = name or configured_model(run_config) or with_provider(DEFAULT_MODEL, environment)
    selector, generation_of = model_selector(run_config), None
    if selector is None:
        name = resolve_name(name, run_config)
    else:
        selected = selector.select(name)
        name, generation_of = selected.name, selected.generation_of
    settings = settings_of_service(name, run_config)
    require_auth_type(name, settings, environment)
    changes = {} if max_attempts is None else {"max_attempts": max_attempts}
    try:
        return open_model(name, replace(_model_options(run_config, settings), generation_of=generation_of, **changes))
    except ModelFailure as failure:
        raise without_sign_in(failure, settings, environment) from None


def settings_of_service(name: str, run_config: RunConfig) -> Settings:
    """The settings for the service of a model, without `base_url` if that is the address of another service.

    The key of one service must not be sent to another.
    """
    settings, environment = run_config.settings, run_config.environment
    if settings.base_url is None or settings.base_url_model is None:
        return settings
    try:
        named = resolve_name(settings.base_url_model.value, _without_project_presets(run_config))
        owner = parse_model_name(named, environment)[0]
        is_owner = parse_model_name(name, environment)[0] is owner
    except UsageError:
        is_owner = False  # a name that no service knows is reported when the model is opened
    return settings if is_owner else replace(settings, base_url=None)


def _without_project_presets(run_config: RunConfig) -> RunConfig:
    """The same run without the presets of the project, which must not decide who gets which key."""
    settings, unset = run_config.settings, DEFAULT_SETTINGS

    def others(presets: Mapping[str, Setting[JsonObject]]) -> dict[str, Setting[JsonObject]]:
        return {name: preset for name, preset in presets.items() if preset.tier is not SourceTier.WORKSPACE}

    kept = replace(
        settings,
        model_aliases=others(settings.model_aliases),
        custom_model_aliases=others(settings.custom_model_aliases),
        model_overrides=unset.model_overrides,
        custom_model_overrides=unset.custom_model_overrides,
        model_id_resolutions=others(settings.model_id_resolutions),
        classifier_id_resolutions=others(settings.classifier_id_resolutions),
    )
    return replace(run_config, settings=kept)


def _model_options(run_config: RunConfig, settings: Settings) -> ModelOptions:
    """The settings of the model clients of a run."""
    return ModelOptions(
        run_config.environment,
        max_attempts=settings.max_attempts.value,
        base_url=None if settings.base_url is None else settings.base_url.value,
        root=run_config.roots[0],
        catalogue=run_config.paths.catalogue,
        needs_key=not is_keyless_gateway(settings, run_config.environment),
        retries_connections=settings.retry_fetch_errors.value,
        ipv4_first=settings.ipv4_first.value,
        vertex_headers=_vertex_headers(settings),
        openai_api=None if settings.openai_api is None else settings.openai_api.value,
    )


def _vertex_headers(settings: Settings) -> dict[str, str]:
    types = {
        "X-Vertex-AI-LLM-Request-Type": settings.vertex_request_type,
        "X-Vertex-AI-LLM-Shared-Request-Type": settings.vertex_shared_request_type,
    }
    return {name: given.value for name, given in types.items() if given is not None}


def model_selector(run_config: RunConfig) -> ModelSelector | None:
    """The selector of models by the presets of the settings; None if there are none."""
    settings = run_config.settings
    is_dynamic = settings.dynamic_model_configuration.value
    resolutions = settings.model_id_resolutions if is_dynamic else DEFAULT_SETTINGS.model_id_resolutions
    tiers = settings.classifier_id_resolutions if is_dynamic else DEFAULT_SETTINGS.classifier_id_resolutions
    aliases, overrides = settings.model_aliases, settings.model_overrides.value
    custom_aliases, custom_overrides = settings.custom_model_aliases, settings.custom_model_overrides.value
    if not (aliases or custom_aliases or overrides or custom_overrides or resolutions or tiers):
        return None
    from tejat.models.presets.resolver import PresetSettings
    from tejat.models.presets.selection import ModelSelector

    presets = PresetSettings(
        aliases, custom_aliases, _each(settings.model_overrides), _each(settings.custom_model_overrides)
    )
    return ModelSelector(run_config.environment, presets, resolutions, tiers)


def own_models(run_config: RunConfig) -> Iterator[tuple[str, str]]:
    """The presets and model definitions of the settings: names and details."""
    selector, settings = model_selector(run_config), run_config.settings
    for name in () if selector is None else selector.preset_names():
        yield name, _("preset")
    if settings.dynamic_model_configuration.value:
        for name, definition in settings.model_definitions.items():
            if definition.value.get("isVisible") is True:
                texts = (definition.value.get(key) for key in ("displayName", "dialogDescription"))
                yield name, ", ".join(text for text in texts if isinstance(text, str) and text)


def _each(listed: Setting[tuple[JsonObject, ...]]) -> list[Setting[JsonObject]]:
    """The entries of a list, each with the source of the list."""
    return [Setting(value, listed.source, listed.tier) for value in listed.value]


def requested_model(options: AgentOptions, run_config: RunConfig) -> str:
    """The name of the model as the user gave it, or the default."""
    return options.model or configured_model(run_config) or with_provider(DEFAULT_MODEL, run_config.environment)


def model_chain(requested: str, run_config: RunConfig) -> ModelChain:
    """The models that may answer for a name. Models of other services than Gemini stand alone."""
    settings, selector = run_config.settings, model_selector(run_config)
    name = requested.strip() if selector is None else selector.select(requested).name
    if parse_model_name(name, run_config.environment)[0] not in {Provider.GEMINI, Provider.VERTEX}:
        return ModelChain((ChainLink(name),))
    from tejat.models.presets.chains import catalogue_chain, configured_chain, limit_chain

    is_own = selector is not None and selector.is_preset(requested)
    prefix, colon, own = (name if is_own else requested.strip()).rpartition(":")
    catalogue = load_catalogue(run_config.paths.catalogue).builtin
    found = None
    if settings.dynamic_model_configuration.value and settings.model_chains:
        chains = {key: given.value for key, given in settings.model_chains.items()}
        resolve = partial(resolve_name, run_config=run_config)
        found = configured_chain(own, chains, catalogue, resolve)
    base_url = settings_of_service(name, run_config).base_url
    is_gateway = bool(run_config.environment.get("GOOGLE_GEMINI_BASE_URL") or base_url)
    chain = catalogue_chain(own, catalogue, is_gateway=is_gateway) if found is None else found
    limit = None if settings.max_attempts.tier is SourceTier.DEFAULT else settings.max_attempts.value
    return limit_chain(chain, f"{prefix}{colon}", limit)


def resolve_name(name: str, run_config: RunConfig) -> str:
    """The model that a name stands for."""
    selector = model_selector(run_config)
    if selector is not None:
        return selector.select(name).name
    alias = resolve_alias(name, run_config.environment)
    return name if alias is None else alias[1]


def conversation_models(
    requested: str,
    run_config: RunConfig,
    approver: Approver | None,
    *,
    is_recorded: bool,
    is_planning: Callable[[], bool] = lambda: False,
) -> ConversationModels:
    """The models that may answer for a name that the user gave. A recording has only the fallback of the settings."""
    configured = run_config.settings.fallback_model
    fallback: ModelFallback | None = None
    if configured is not None and configured.value != requested:
        fallback = SingleFallback(partial(open_named_model, configured.value, run_config))
    if is_recorded:
        return ConversationModels(fallback)
    chain = model_chain(requested, run_config)

    def open_link(link: ChainLink) -> ModelClient:
        name = requested if link is chain.links[0] else link.name
        return open_named_model(name, run_config, max_attempts=link.attempts)

    following = ChainFallback(chain, open_link, approver)
    if fallback is None and len(chain.links) > 1:
        fallback = following
    router: PromptRouter | None = None
    if chain.is_auto and run_config.settings.model_router.value:
        from tejat.engine.models.router import PromptRouter

        router = PromptRouter(
            _router_models(requested, run_config),
            lambda name: open_link(next((link for link in chain.links if link.name == name), ChainLink(name))),
            is_planning=lambda: run_config.settings.plan_model_routing.value and is_planning(),
            is_available=following.is_available,
        )
    open_helper = partial(open_helper_model, chain=chain, run_config=run_config)
    return ConversationModels(fallback, open_helper=open_helper, router=router)


def _router_models(requested: str, run_config: RunConfig) -> RouterModels:
    """The models of an `auto` name, between which the router chooses."""
    from tejat.engine.models.router import RouterModels

    prefix, colon, own = requested.strip().rpartition(":")
    route, selector = load_catalogue(run_config.paths.catalogue).builtin.route(own), model_selector(run_config)
    names = {"pro": "", "flash": ""} if route is None else {"pro": route.pro, "flash": route.flash}
    if selector is not None:
        names = {tier: selector.select_tier(tier, own, name) for tier, name in names.items()}
    return RouterModels(f"{prefix}{colon}{names['pro']}", f"{prefix}{colon}{names['flash']}")


def open_helper_model(purpose: str, chain: ModelChain, run_config: RunConfig) -> ModelClient | None:
    """Open the model for side requests of a purpose; None for the model of the conversation.

    That is what a preset of the user says, else the light model of an `auto` name.
    """
    selector = model_selector(run_config)
    name = None if selector is None else selector.select_helper(purpose)
    if name is None and chain.is_auto and purpose in _HELPER_PURPOSES:
        prefix, colon, _own = chain.links[0].name.rpartition(":")
        name = f"{prefix}{colon}{_HELPER_ALIAS}"
    if name is None:
        return None
    try:
        return open_named_model(name, run_config, max_attempts=1 if purpose == ROUTER_PURPOSE else None)
    except (UsageError, ModelFailure):
        return None


_HELPER_PURPOSES = frozenset({"edit_correction", "web_search", "web_fetch", ROUTER_PURPOSE})
_HELPER_ALIAS = "flash-lite"


def own_prices(run_config: RunConfig) -> dict[str, Price]:
    """The prices in the settings, by model name."""
    given = {name: price.value for name, price in run_config.settings.prices.items()}
    return {name: Price(each.input, each.cached, each.output, each.cache_write) for name, each in given.items()}


def list_models(run_config: RunConfig) -> ModelLister:
    """Return the lister of the models that can be used here."""
    from tejat.models.discovery.model_list import ModelLister

    named = configured_model(run_config) or with_provider(DEFAULT_MODEL, run_config.environment)
    # Without a model in the files of the settings, their address is that of the configured one.
    owner = run_config.settings.base_url_model or Setting(named)
    listed = replace(run_config, settings=replace(run_config.settings, base_url_model=owner))

    def options_of(provider: Provider) -> ModelOptions:
        name = f"{provider.value}:any"
        settings = settings_of_service(name, listed)
        require_auth_type(name, settings, run_config.environment)
        return _model_options(run_config, settings)

    return ModelLister(_model_options(run_config, run_config.settings), own_prices(run_config), options_of)


def alias_notes(name: str | None, run_config: RunConfig) -> tuple[str, ...]:
    """What to tell the user about an alias that they have named: once, and again when it means another model."""
    alias = None if name is None else resolve_alias(name, run_config.environment)
    if name is None or alias is None or resolve_name(name, run_config) != alias[1]:
        return ()  # a preset of the user comes before an alias
    from tejat.config.files.reported import report_once

    if not report_once(run_config.paths.reported_aliases, {alias[0]: alias[1]}):
        return ()
    return (_("{alias} is an alias of {model}.", alias=alias[0], model=alias[1].rpartition(":")[2]),)


def current_date() -> str:
    """The date in the user's time zone."""
    return time.strftime("%A, %B %d, %Y")

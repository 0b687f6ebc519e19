"""Settings of model presets, chains and connections."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, merge_by_name, without_project
from tejat.config.settings.reader import SettingReader
from tejat.config.settings.schema.spec import SettingSpec
from tejat.config.settings.types import Setting
from tejat.core.json_text import merge_objects

if TYPE_CHECKING:
    from tejat.core.messages.types import JsonObject


def _merge_members(reader: SettingReader, default: object) -> object:
    """The members of all objects; those of the same name are merged deeply."""
    members = dict(cast("Mapping[str, Setting[JsonObject]]", default))
    for name, parsed in reader.members():
        before = members.get(name)
        value = cast("JsonObject", parsed.value)
        members[name] = parsed.found.setting(value if before is None else merge_objects(before.value, value))
    return members


def _parse_objects(found: SettingValue) -> "tuple[JsonObject, ...]":
    """A list of objects."""
    return tuple(entry.json_object() for entry in found.items_or_one())


def _parse_request_type(found: SettingValue) -> str:
    return found.choice(("dedicated", "shared"))


def _parse_shared_request_type(found: SettingValue) -> str:
    return found.choice(("priority", "flex"))


def _parse_dns_order(found: SettingValue) -> bool:
    """Whether IPv4 addresses come first."""
    return found.choice(("ipv4first", "verbatim")) == "ipv4first"


def _parse_openai_api(found: SettingValue) -> str:
    return found.choice(("responses", "chat"))


MODEL_CONFIG_SETTINGS = (
    SettingSpec("model_aliases", SettingKey("modelConfigs.aliases"), SettingValue.json_object, _merge_members),
    SettingSpec(
        "custom_model_aliases", SettingKey("modelConfigs.customAliases"), SettingValue.json_object, _merge_members
    ),
    SettingSpec("model_overrides", SettingKey("modelConfigs.overrides"), _parse_objects),
    SettingSpec("custom_model_overrides", SettingKey("modelConfigs.customOverrides"), _parse_objects),
    SettingSpec(
        "dynamic_model_configuration", SettingKey("experimental.dynamicModelConfiguration"), SettingValue.boolean
    ),
    SettingSpec(
        "model_definitions", SettingKey("modelConfigs.modelDefinitions"), SettingValue.json_object, _merge_members
    ),
    SettingSpec(
        "model_id_resolutions", SettingKey("modelConfigs.modelIdResolutions"), SettingValue.json_object, _merge_members
    ),
    SettingSpec(
        "classifier_id_resolutions",
        SettingKey("modelConfigs.classifierIdResolutions"),
        SettingValue.json_object,
        _merge_members,
    ),
    SettingSpec("model_chains", SettingKey("modelConfigs.modelChains"), _parse_objects, merge_by_name),
    SettingSpec("model_router", SettingKey("model.router"), SettingValue.boolean),
    SettingSpec("openai_api", SettingKey("model.api"), _parse_openai_api, without_project(last_wins)),
    SettingSpec("plan_model_routing", SettingKey("general.plan.modelRouting"), SettingValue.boolean),
    SettingSpec("retry_fetch_errors", SettingKey("general.retryFetchErrors", "retryFetchErrors"), SettingValue.boolean),
    SettingSpec("ipv4_first", SettingKey("advanced.dnsResolutionOrder", "dnsResolutionOrder"), _parse_dns_order),
    SettingSpec(
        "vertex_request_type",
        SettingKey("billing.vertexAi.requestType"),
        _parse_request_type,
        without_project(last_wins),
    ),
    SettingSpec(
        "vertex_shared_request_type",
        SettingKey("billing.vertexAi.sharedRequestType"),
        _parse_shared_request_type,
        without_project(last_wins),
    ),
)

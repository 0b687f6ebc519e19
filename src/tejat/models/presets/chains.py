"""Fallback chains of Gemini models: those of the catalogue, and `modelChains` of the settings."""

from collections.abc import Callable, Mapping, Sequence

from tejat.core.agent.model_chain import ChainAction, ChainLink, FailureClass, ModelChain
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.models.catalogue.catalogue_file import Catalogue

_MAX_ATTEMPTS = 10
_ANY_FAILURE = (FailureClass.TERMINAL, FailureClass.TRANSIENT, FailureClass.NOT_FOUND)


def catalogue_chain(name: str, catalogue: Catalogue, *, is_gateway: bool) -> ModelChain:
    """Return the chain of an alias or a Gemini id.

    A model that a service does not know is replaced where the user gave an alias; a full id stands. Behind a gateway,
    the chain of an alias ends with a model that most of them know.
    """
    is_auto, is_alias = catalogue.route(name) is not None, name in catalogue.aliases
    known = catalogue.chain(name)
    names = [link.name for link in known.models]
    if is_gateway and is_alias and catalogue.gateway_model not in names:
        names.append(catalogue.gateway_model)
    actions: dict[FailureClass, ChainAction]
    if known.is_silent and not is_auto:
        actions = dict.fromkeys(_ANY_FAILURE, ChainAction.SILENT)
    else:
        transient = ChainAction.SILENT if is_auto else ChainAction.PROMPT
        actions = {FailureClass.TERMINAL: ChainAction.PROMPT, FailureClass.TRANSIENT: transient}
        if is_alias:
            actions[FailureClass.NOT_FOUND] = ChainAction.SILENT
    attempts = {link.name: link.attempts for link in known.models}
    headless = {FailureClass.NOT_FOUND} if is_alias else set[FailureClass]()
    if is_auto:
        headless.add(FailureClass.TRANSIENT)
    links = tuple(ChainLink(link, attempts.get(link), actions) for link in names)
    return ModelChain(links, frozenset(headless), is_auto)


def configured_chain(
    name: str, chains: Mapping[str, Sequence[JsonObject]], catalogue: Catalogue, resolve: Callable[[str], str]
) -> ModelChain | None:
    """Return the chain of the settings for a name, its own model first; None if no chain has it.

    `resolve` replaces aliases of models by ids.
    """
    is_auto, model = catalogue.route(name) is not None, resolve(name)
    entry = catalogue.models.find(model)
    tier, family = ("", "") if entry is None else (entry.tier, entry.family)
    usual = "lite" if tier == "flash-lite" else "preview" if family == "gemini-3" else "default"
    key = name if name in chains else f"auto-{usual}" if is_auto and usual != "lite" else usual
    links = [link for given in chains.get(key, ()) if (link := _link(given, resolve)) is not None]
    place = next((place for place, link in enumerate(links) if link.name == model), None)
    if place is None:
        return None
    ordered = (*links[place:], *links[:place])
    silent = frozenset(kind for kind, action in ordered[0].actions.items() if action is ChainAction.SILENT)
    return ModelChain(ordered, silent, is_auto)


def _link(given: JsonObject, resolve: Callable[[str], str]) -> ChainLink | None:
    model, attempts, written = given.get("model"), given.get("maxAttempts"), given.get("actions")
    if not isinstance(model, str) or not model:
        return None
    words = {action.value: action for action in ChainAction}
    known = {kind: written.get(kind.value) if isinstance(written, Mapping) else None for kind in FailureClass}
    actions = {kind: words.get(str(word), ChainAction.PROMPT) for kind, word in known.items()}
    return ChainLink(resolve(model), attempts if isinstance(attempts, int) and attempts > 0 else None, actions)


def limit_chain(chain: ModelChain, prefix: str, max_attempts: int | None) -> ModelChain:
    """Return the chain with full names. `max_attempts` is what the user set, None for the usual numbers."""
    most = min(max_attempts or _MAX_ATTEMPTS, _MAX_ATTEMPTS)
    links = (
        replace(link, name=f"{prefix}{link.name}", attempts=link.attempts and min(link.attempts, most))
        for link in chain.links
    )
    return replace(chain, links=tuple(links))

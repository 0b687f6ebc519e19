"""The models to choose from: what the services offer, with what the catalogue knows about them."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tejat.core.agent.listed_models import CatalogueInfo, ListedModel, ServiceListing
from tejat.core.agent.prices import Price
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.model import ModelFailure
from tejat.core.text.switches import is_truthy
from tejat.models import ModelOptions
from tejat.models.catalogue.catalogue_file import ModelCatalogue, load_catalogue
from tejat.models.catalogue.entries import ModelEntry
from tejat.models.catalogue.price_list import PriceList
from tejat.models.discovery.service_models import ListingFailure, ServiceModel, fetch_models, has_access
from tejat.models.names import Provider, parse_model_name

LISTED_PROVIDERS = (Provider.GEMINI, Provider.VERTEX, Provider.ANTHROPIC, Provider.OPENAI, Provider.OLLAMA)
_OTHER_PURPOSE = re.compile(
    r"^ada$|^ft:|audio|aqa|babbage|banana|computer-use|curie|dall-e|davinci|deep-research|embed|imagen|image|instruct|-live|lyria|moderation"
    r"|omni|realtime|robotics|search-api|search-preview|sora|transcribe|tts|veo-|whisper"
)
"""Models that services list besides those for conversations."""

_VERTEX_SUFFIX = "-maas"


def parse_services(names: Sequence[str] | None) -> tuple[Provider, ...] | None:
    """Return the services of these names, None for None. Raises UsageError for others than the listed ones."""
    if names is None:
        return None
    known = {provider.value: provider for provider in LISTED_PROVIDERS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            _("Unknown service {name!r}. Known services: {known}.", name=unknown[0], known=", ".join(known))
        )
    return tuple(known[name] for name in dict.fromkeys(names))


class ModelLister:
    """Lists models for an environment. `own_prices` are those of the user.

    `options_of` returns the options for a service, whose address may be another one than in `options`. It may raise
    ModelFailure for a service that must not be asked.
    """

    def __init__(
        self,
        options: ModelOptions,
        own_prices: Mapping[str, Price] | None = None,
        options_of: Callable[[Provider], ModelOptions] | None = None,
    ) -> None:
        self._options = options
        self._options_of: Callable[[Provider], ModelOptions] = options_of or partial(_same_options, options)
        self.catalogue: ModelCatalogue = load_catalogue(options.catalogue)
        self._prices = PriceList(partial(load_catalogue, options.catalogue), own_prices or {})
        self.day = self._prices.today()

    @property
    def catalogue_info(self) -> CatalogueInfo:
        """The catalogue that counts."""
        current = self.catalogue.current
        return CatalogueInfo(current.date, current.origin, current.source, self.catalogue.problem)

    def providers_with_catalogue(self) -> tuple[Provider, ...]:
        """The services that can be asked here, or those of the catalogue if there is none besides Ollama."""
        available = self.providers()
        if set(available) - {Provider.OLLAMA}:
            return available
        return Provider.GEMINI, Provider.ANTHROPIC, Provider.OPENAI, *available

    def providers(self) -> tuple[Provider, ...]:
        """The services that can be asked here. Ollama is among them, though it may not run."""
        uses_vertex = is_truthy(self._options.environment.get("GOOGLE_GENAI_USE_VERTEXAI"))
        hidden = Provider.GEMINI if uses_vertex else Provider.VERTEX
        return tuple(
            each
            for each in LISTED_PROVIDERS
            if each is not hidden and (each is Provider.VERTEX or self._has_access(each))
        )

    def _has_access(self, provider: Provider) -> bool:
        try:
            return has_access(provider, self._options_of(provider))
        except (ModelFailure, UsageError):
            return False

    async def list_all(
        self, providers: Sequence[Provider] | None = None, *, every: bool = False
    ) -> list[ServiceListing]:
        """List the models of these services, or of those that can be asked.

        With `every`, also those that are not for conversations. Raises UsageError for an invalid address.
        """
        chosen = self.providers() if providers is None else providers
        return list(await asyncio.gather(*(self.list_service(provider, every=every) for provider in chosen)))

    async def list_service(self, provider: Provider, *, every: bool = False) -> ServiceListing:
        """List the models of a service; those of the catalogue if it cannot be asked."""
        try:
            options = self._options_of(provider)
            if not has_access(provider, options) and provider is not Provider.VERTEX:
                raise ListingFailure(_("No API key for this service."))
            offered = await fetch_models(provider, options)
        except (ListingFailure, ModelFailure, UsageError) as failure:
            known = () if self._is_own_server(provider) else self.known_models(provider)
            return ServiceListing(provider.value, known, str(failure))
        shown = (model for model in offered if every or not _OTHER_PURPOSE.search(model.id))
        return ServiceListing(provider.value, tuple(self._describe(provider, model) for model in shown))

    def _is_own_server(self, provider: Provider) -> bool:
        """Whether the models are those of the user's own server, which the catalogue does not know."""
        has_address = self._options.environment.get("OPENAI_BASE_URL", "").strip() or self._options.base_url
        return provider is Provider.OPENAI and bool(has_address)

    def known_models(self, provider: Provider) -> tuple[ListedModel, ...]:
        """The models of a service that the catalogue knows and that are still offered."""
        service = Provider.GEMINI if provider is Provider.VERTEX else provider
        known = (entry for entry in self.catalogue if entry.service == service.value)
        current = (entry for entry in known if not entry.is_retired(self.day) and not _OTHER_PURPOSE.search(entry.id))
        only_vertex = "" if provider is Provider.VERTEX else _VERTEX_SUFFIX
        return tuple(
            self._describe(provider, ServiceModel(entry.id, entry.title))
            for entry in current
            if not (only_vertex and entry.id.endswith(only_vertex))
        )

    def _describe(self, provider: Provider, model: ServiceModel) -> ListedModel:
        name = self._full_name(provider, model.id)
        is_local = provider is Provider.OLLAMA
        entry = None if is_local else self.catalogue.find(model.id)
        entry = entry or ModelEntry(model.id, provider.value)
        aliases = self.catalogue.builtin.aliases.items() if provider in {Provider.GEMINI, Provider.VERTEX} else ()
        return ListedModel(
            name,
            model.id,
            model.title or entry.title,
            model.context_window or entry.context_window,
            model.max_output or entry.max_output,
            self._prices.price_of(f"{provider.value}:{model.id}"),
            tuple(alias for alias, target in aliases if target == model.id),
            entry.is_preview or "preview" in model.id,
            model.created,
            entry.retired,
        )

    def _full_name(self, provider: Provider, identifier: str) -> str:
        """The name for `-m`: with the provider as a prefix where the bare name means another model or none."""
        try:
            service, _own_name = parse_model_name(identifier, self._options.environment)
        except UsageError:
            service = None
        return identifier if service is provider else f"{provider.value}:{identifier}"


def _same_options(options: ModelOptions, _: Provider) -> ModelOptions:
    return options

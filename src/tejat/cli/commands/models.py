"""`tejat models`: list the models to choose from, and update their catalogue."""

import asyncio
from collections.abc import Iterator, Sequence

from tejat.app.inspection.openers import list_service_models, update_model_catalogue
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_error, print_usage_error
from tejat.core.agent.listed_models import CatalogueInfo, ListedModel, ServiceListing
from tejat.core.agent.prices import Price
from tejat.core.errors import UsageError
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _, ngettext
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.model_figures import format_dollars, format_window
from tejat.ui.plain.table import print_table

_NUMERIC_COLUMNS = (1, 2, 3)


def run(words: list[str]) -> int:
    """Run `tejat models` and return the exit code."""
    parser = make_parser()
    options = parser.parse_intermixed_args(words)
    try:
        match options.words:
            case [] | ["list"]:
                return _list(options.service, every=options.all, as_json=options.json)
            case ["update" | "refresh"]:
                return _update(None)
            case ["update" | "refresh", source]:
                return _update(source)
            case _:
                return parser.reject_words(options.words)
    except UsageError as error:
        return print_usage_error(error)


def make_parser() -> CommandParser:
    """The parser of `tejat models`."""
    parser = CommandParser(
        "tejat models",
        _(
            "List the models of the services you have a key for, and of the local server, with context windows and "
            "prices. If a service cannot be reached, its models are listed from the built-in catalogue, with a note."
        ),
        usages=(
            "tejat models [list] [--service NAME]... [--all] [--json]",
            "tejat models update [FILE or URL]",
        ),
        actions=(
            ("list", _("list the models")),
            ("update", _("update the prices of the catalogue; `refresh` is the same")),
        ),
        notes=_(
            "Prices are in dollars per million tokens: INPUT for tokens sent, OUTPUT for tokens received. `+` marks a "
            "higher price for long prompts. Empty cells are unknown.\n\n"
            "`update` reads prices from a file, an https URL, the setting models.catalogueUrl, or the published data "
            "of the genai-prices project. The catalogue is never updated automatically."
        ),
        examples=(
            ("tejat models --service openai", _("the models of one service")),
            ("tejat models --all --json", _("everything, for scripts")),
        ),
        exit_codes=(("0", _("done")), ("2", _("bad usage, or the catalogue could not be updated"))),
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument(
        "--service",
        action="append",
        metavar="NAME",
        help=_("gemini, vertex, anthropic, openai or ollama; may be repeated (default: all that can be used here)"),
    )
    parser.add_argument("--all", action="store_true", help=_("include models that are not for conversations"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON object"))
    return parser


def _list(services: Sequence[str] | None, *, every: bool, as_json: bool) -> int:
    listings, catalogue = asyncio.run(list_service_models(services, every=every))
    if as_json:
        print(dump_json(_to_json(listings, catalogue), indent=2))
        return EXIT_OK
    for listing in listings:
        if listing.problem:
            print_error(_catalogue_note(listing, catalogue))
    if catalogue.problem:
        print_error(catalogue.problem)
    if not any(listing.models for listing in listings):
        return EXIT_OK
    rows = [(_("MODEL"), _("CONTEXT"), _("INPUT"), _("OUTPUT"), _("NOTES"))]
    rows += [_row(model) for listing in listings for model in listing.models]
    print_table(rows, numeric=_NUMERIC_COLUMNS)
    print_error(_("Prices as of {date}.", date=catalogue.date))
    return EXIT_OK


def _catalogue_note(listing: ServiceListing, catalogue: CatalogueInfo) -> str:
    if not listing.models:
        return _("{service}: {why}", service=listing.service, why=listing.problem)
    return _(
        "{service}: {why} Showing the catalogue from {date}.",
        service=listing.service,
        why=listing.problem,
        date=catalogue.date,
    )


def _row(model: ListedModel) -> tuple[str, ...]:
    price = model.price
    mark = "+" if price is not None and price.steps else ""
    fresh, output = ("", "") if price is None else (format_dollars(price.input), format_dollars(price.output))
    return (
        model.name,
        format_window(model.context_window),
        f"{fresh}{mark}",
        f"{output}{mark}",
        ", ".join(_notes(model)),
    )


def _notes(model: ListedModel) -> Iterator[str]:
    yield from model.aliases
    if model.is_preview:
        yield _("preview")
    if model.retired:
        yield _("available until {day}", day=model.retired)


def _to_json(listings: Sequence[ServiceListing], catalogue: CatalogueInfo) -> JsonObject:
    services: list[JsonValue] = [
        {
            "service": listing.service,
            "source": "catalogue" if listing.problem else "service",
            **({"problem": listing.problem} if listing.problem else {}),
            "models": [_model_to_json(model) for model in listing.models],
        }
        for listing in listings
    ]
    about: JsonObject = {"date": catalogue.date, "origin": catalogue.origin, "path": catalogue.path or None}
    return {"catalogue": about, "services": services}


def _model_to_json(model: ListedModel) -> JsonObject:
    return {
        "name": model.name,
        "id": model.id,
        "title": model.title,
        "aliases": list(model.aliases),
        "context_window": model.context_window,
        "max_output": model.max_output,
        "preview": model.is_preview,
        "created": model.created or None,
        "retired": model.retired or None,
        "price": None if model.price is None else _price_to_json(model.price),
    }


def _price_to_json(price: Price) -> JsonObject:
    own: JsonObject = {
        "input": price.input,
        "cached": price.cached,
        "cache_write": price.input if price.cache_write is None else price.cache_write,
        "output": price.output,
    }
    steps: JsonObject = {str(above): _price_to_json(step) for above, step in price.steps}
    return own | {"above": steps} if steps else own


def _update(source: str | None) -> int:
    catalogue, count = asyncio.run(update_model_catalogue(source))
    print(
        ngettext(
            "Stored {count} model with prices of {date} from {origin} in {path}.",
            "Stored {count} models with prices of {date} from {origin} in {path}.",
            count,
            date=catalogue.date,
            origin=catalogue.origin,
            path=catalogue.path,
        )
    )
    if catalogue.problem:
        print_error(catalogue.problem)
    return EXIT_OK

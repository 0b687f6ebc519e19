"""`tejat models`: list the models to choose from, and update their catalogue."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence

from tejat.app.inspection import list_service_models, update_model_catalogue
from tejat.cli.command_parser import CommandParser
from tejat.cli.messages import print_bad_usage, print_error, print_usage_error
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
    if "-h" in words or "--help" in words:
        print(help_text(), end="")
        return EXIT_OK
    options = _parser().parse_intermixed_args(words)
    try:
        match options.words:
            case [] | ["list"]:
                return _list(options.service, every=options.all, as_json=options.json)
            case ["update" | "refresh"]:
                return _update(None)
            case ["update" | "refresh", source]:
                return _update(source)
            case _:
                return print_bad_usage(_("`tejat models` takes list or update [FILE or URL]."), help_text())
    except UsageError as error:
        return print_usage_error(error)


def help_text() -> str:
    return _("""\
usage: tejat models [list] [--service NAME]... [--all] [--json]
       tejat models update [FILE or URL]

List the models that the services with an API key and the local server offer, with context windows and prices. If a
service cannot be asked, its models are listed from the catalogue, with a note.

`update` reads current prices from a file, an https address, the setting models.catalogueUrl, or the published data of
the genai-prices project. Nothing is updated unless you run it. `refresh` is the same.

options:
  --service NAME  gemini, vertex, anthropic, openai or ollama; may be repeated (default: those that can be used here)
  --all           also models that are not for conversations
  --json          print one JSON object
  -d, --debug     write details to the log, and show where an internal error happened
  -h, --help      show this help
  -v, --version   show the version

Prices are in dollars per million tokens sent (INPUT) and received (OUTPUT), as of today. `+` marks a higher price for
long prompts. An empty cell means that the value is unknown.

exit codes: 0 done, 2 bad usage, or the catalogue could not be updated
""")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(prog="tejat models", usage=help_text().partition(": ")[2], add_help=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--service", action="append")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
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
        "{service}: {why} Showing the catalogue of {date}.",
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
            "{count} model with the prices of {date} from {origin}, stored in {path}.",
            "{count} models with the prices of {date} from {origin}, stored in {path}.",
            count,
            date=catalogue.date,
            origin=catalogue.origin,
            path=catalogue.path,
        )
    )
    if catalogue.problem:
        print_error(catalogue.problem)
    return EXIT_OK

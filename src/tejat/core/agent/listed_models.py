"""Models to choose from, as services and the catalogue list them."""

from tejat.core.agent.prices import Price
from tejat.core.frozen import Frozen


class ListedModel(Frozen):
    """A model of a list. `name` is the value for `-m`, `id` the name at its service; `aliases` are other names for it.

    `price` is that of today. Whatever is None is unknown. `created` and `retired` are days in ISO format or "".
    """

    name: str
    id: str
    title: str = ""
    context_window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    aliases: tuple[str, ...] = ()
    is_preview: bool = False
    created: str = ""
    retired: str = ""


class ServiceListing(Frozen):
    """The models of one service. `problem` says why they are those of the catalogue; "" if the service listed them."""

    service: str
    models: tuple[ListedModel, ...]
    problem: str = ""


class CatalogueInfo(Frozen):
    """Which catalogue counts: its date, what it was made from, and its file ("" if it comes with the program).

    `problem` says why an updated file is not used, "" if there is none.
    """

    date: str
    origin: str
    path: str = ""
    problem: str = ""

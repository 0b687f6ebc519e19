"""What a command in another process asks the user of this front end."""

from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import translate
from tejat.core.messages.types import JsonObject
from tejat.core.ui.prompter import Choice, ChoicePreview, UserPrompter
from tejat.core.ui.report import Report
from tejat.mcp.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND
from tejat.ui.jsonrpc.peer import RequestError
from tejat.ui.remote import methods
from tejat.ui.remote.params import read_items, read_param


async def answer_prompter_request(user: UserPrompter, method: str, params: JsonObject) -> JsonObject:
    """Ask the user, and return the answer. Raises RequestError."""
    try:
        match method:
            case methods.PAGE:
                return {"was_paged": await user.page(read_items(params, "reports", Report))}
            case methods.CHOOSE:
                return {"chosen": await user.choose(_read_choice(params))}
            case methods.ENTER:
                label, initial = read_param(params, "label", str), read_param(params, "initial", str)
                is_secret = params.get("is_secret") is True
                return {"text": await user.enter(label, initial=initial, is_secret=is_secret)}
            case methods.EDIT:
                text, suffix = read_param(params, "text", str), read_param(params, "suffix", str)
                return {"text": await user.edit(text, suffix=suffix)}
            case methods.COPY:
                return {"text": await user.copy(read_param(params, "text", str))}
            case _:
                raise RequestError(METHOD_NOT_FOUND, f"Method not found: {method}")
    except UsageError as error:
        raise RequestError(INTERNAL_ERROR, translate(str(error))) from error


def _read_choice(params: JsonObject) -> Choice:
    choice, previews = read_param(params, "choice", Choice), read_items(params, "previews", ChoicePreview)
    return replace(choice, preview=previews.__getitem__) if previews else choice

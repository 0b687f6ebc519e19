"""A kind path to the first session of a person without a key: one is given, or a model of this machine is found."""

import os
from collections.abc import Mapping, Sequence

from tejat.app.first_trust import Instead
from tejat.config.keep_key import keep_key
from tejat.config.keys import keys_path
from tejat.config.own_file import Writers
from tejat.config.places import Places, places_of
from tejat.config.settings_edit import edit_settings, with_member
from tejat.core.agent_options import AgentOptions
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Sheet, Tone, Words, told
from tejat.core.value import replace
from tejat.core.words import say
from tejat.models import ModelOptions
from tejat.models.key_check import KEYED, KeyedService, KeyVerdict, check_key
from tejat.models.local_servers import LocalModel, find_local_models
from tejat.models.names import Service

_USUAL_MODELS = {
    Service.GEMINI: "gemini-2.5-pro",
    Service.ANTHROPIC: "claude-sonnet-5",
    Service.OPENAI: "gpt-5.5",
}
_MOST_KEY_CHARACTERS = 500


async def settle_model(options: AgentOptions, person: Person) -> AgentOptions | Instead:
    """Find a model to ask, after it turned out that there is no key for the one that would be.

    Raises UsageError where something cannot be kept.
    """
    environment = dict(os.environ if options.environment is None else options.environment)
    person.show(
        Sheet(
            say("There is no model to talk to yet."),
            (Words(say("Give a key of a service, or use a model on this machine. Either can be changed later.")),),
        )
    )
    local = await find_local_models(environment)
    while True:
        taken = await person.choose(_model_question(local))
        if taken is None:
            return Instead.LEAVE
        settled: AgentOptions | Instead | None
        if taken < len(local):
            settled = await _with_local_model(options, local[taken], environment, person)
        elif taken - len(local) < len(KEYED):
            settled = await _with_key(options, KEYED[taken - len(local)], environment, person)
        else:
            settled = (Instead.DEMO, Instead.LEAVE)[taken - len(local) - len(KEYED)]
        if settled is not None:
            return settled


def _model_question(local: Sequence[LocalModel]) -> Choice:
    return Choice(
        say("What do you want to use?"),
        (
            *(
                Option(model.name, say("{server} on this machine, no key needed", server=model.server))
                for model in local
            ),
            *(Option(_give_key(asked), say("kept for you alone, or for this session only")) for asked in KEYED),
            Option(say("See the demo first"), say("a whole run without key and network")),
            Option(say("Leave")),
        ),
    )


def _give_key(asked: KeyedService) -> str:
    match asked.service:
        case Service.GEMINI:
            return say("Gemini, with a key from {address}", address="https://aistudio.google.com/apikey")
        case Service.ANTHROPIC:
            return say("Anthropic, with a key from {address}", address="https://console.anthropic.com/settings/keys")
        case _:
            return say("OpenAI, with a key from {address}", address="https://platform.openai.com/api-keys")


async def _with_local_model(
    options: AgentOptions, model: LocalModel, environment: dict[str, str], person: Person
) -> AgentOptions | None:
    places = places_of(environment)
    path = _settings_path(places)
    choice = await person.choose(
        Choice(
            say("Use {model} from now on?", model=model.name),
            (
                Option(say("Yes, always"), say("written into {path}", path=path)),
                Option(say("For this session only")),
            ),
        )
    )
    if choice is None:
        return None
    if choice == 0:
        _keep_model(places, path, model.name, model.base_url)
    if model.base_url is not None:
        environment["OPENAI_BASE_URL"] = model.base_url
    return replace(options, model=model.name, environment=environment)


async def _with_key(
    options: AgentOptions, asked: KeyedService, environment: dict[str, str], person: Person
) -> AgentOptions | None:
    """None where the person would rather choose something else."""
    key = await _key_that_is_taken(asked, environment, person)
    if key is None:
        return None
    places = places_of(environment)
    choice = await person.choose(
        Choice(
            say("Keep the key?"),
            (
                Option(
                    say("Yes"),
                    say("in plain text in {path}, which only you can read", path=keys_path(places)),
                ),
                Option(say("For this session only"), say("in memory, written nowhere")),
            ),
        )
    )
    if choice is None:
        return None
    model = options.model or _USUAL_MODELS[asked.service]
    if choice == 0:
        path = keep_key(places, asked.key_name, key)
        if options.model is None:
            _keep_model(places, _settings_path(places), model, None)
        person.show(told(say("The key is kept in {path}.", path=path), Tone.GOOD))
    environment[asked.key_name] = key
    return replace(options, model=model, environment=environment)


async def _key_that_is_taken(asked: KeyedService, environment: Mapping[str, str], person: Person) -> str | None:
    while True:
        typed = await person.enter(say("The key (it is not shown):"), is_secret=True)
        key = (typed or "").strip()
        if not key:
            return None
        if not (key.isascii() and key.isprintable()) or "'" in key or " " in key or len(key) > _MOST_KEY_CHARACTERS:
            person.show(told(say("This is not a key: it holds characters that no key has."), Tone.BAD))
            continue
        person.show(told(say("Asking the service once whether it takes the key."), Tone.QUIET))
        verdict, why = await check_key(asked, key, ModelOptions(environment))
        match verdict:
            case KeyVerdict.TAKEN:
                person.show(told(say("The service takes the key."), Tone.GOOD))
                return key
            case KeyVerdict.REFUSED:
                person.show(told(say("The service does not take this key ({why}). Try again.", why=why), Tone.BAD))
            case KeyVerdict.UNKNOWN:
                question = say("The key could not be checked: {why} Use it nevertheless?", why=why)
                if await person.choose(Choice(question, (Option(say("Yes")), Option(say("No"))))) == 0:
                    return key


def _settings_path(places: Places) -> str:
    return os.path.join(places.gemini, "settings.json")


def _keep_model(places: Places, path: str, name: str, base_url: str | None) -> None:
    def change(text: str) -> str:
        changed = with_member(text, ("model", "name"), name)
        return changed if base_url is None else with_member(changed, ("model", "baseUrl"), base_url)

    try:
        edit_settings(places, path, change, writers=Writers.TRUSTED)
    except OSError as error:
        raise UsageError(say("{path} could not be written: {why}.", path=path, why=error.strerror or "")) from error

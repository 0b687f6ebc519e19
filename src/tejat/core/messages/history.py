"""The messages of a conversation, what makes a sequence of them legal, and how any sequence is made so.

Legal means: it begins with a user message; the roles alternate; every function call stands in a model message, has an
id of its own and is answered by exactly one function response in the user message that follows, in the order asked; no
response stands anywhere else; no message is empty. Every service accepts such a sequence.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby

from tejat.core.frozen import frozen_identity, replace
from tejat.core.i18n import gettext_lazy
from tejat.core.messages.types import FunctionCall, FunctionResponse, MessagePart, Text, Thought

GENERATED_ID_PREFIX = "tejat-"
"""How an id begins that we gave to a call because the model gave none, or one that was taken."""

INTERRUPTED_ERROR = "[Operation Cancelled] Reason: The session was interrupted before this call had a result."
MISSING_BEGINNING = "[The beginning of this conversation is missing.]"


class Role(StrEnum):
    USER = "user"
    MODEL = "model"


@frozen_identity
class Message:
    """Compared by identity: a message is made once, and whoever encodes it does so once."""

    role: Role
    parts: tuple[MessagePart, ...]

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, FunctionCall))

    @property
    def responses(self) -> tuple[FunctionResponse, ...]:
        return tuple(part for part in self.parts if isinstance(part, FunctionResponse))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of it for a service that takes no thoughts back: no call, no media, no words."""
        return not any(
            part.text.strip() if isinstance(part, Text) else not isinstance(part, Thought) for part in self.parts
        )


def user_message(*parts: MessagePart | str) -> Message:
    return Message(Role.USER, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def model_message(*parts: MessagePart | str) -> Message:
    return Message(Role.MODEL, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def interrupted_response(call: FunctionCall) -> FunctionResponse:
    """The response to a call whose result nobody knows."""
    return FunctionResponse(call.name, {"error": INTERRUPTED_ERROR}, call.id)


class History:
    """A conversation that is legal whenever no call is open, and can only grow into one that is.

    Nothing that was added is changed: a message that had to be put differently is a new object in its place.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        """Raises ValueError if the messages are not legal; `repair` makes them so."""
        self._ids = _CallIdAllocator()
        self._messages: list[Message] = []
        self._open_calls: tuple[FunctionCall, ...] = ()
        self._committed: Message | None = None
        self.replace_all(tuple(messages))

    @property
    def messages(self) -> Sequence[Message]:
        """The very list that grows: look at it, and change nothing."""
        return self._messages

    @property
    def open_calls(self) -> tuple[FunctionCall, ...]:
        """The calls of the last message. The next one has to answer them."""
        return self._open_calls

    def add_user(self, message: Message) -> Message:
        """Add what the person says or what calls came to; returns the message as it stands in the history now.

        Where the last message is the user's too, both become one. Raises ValueError for an empty message and one whose
        responses are not those to the open calls, one each, in order.
        """
        problem = _message_problem(message, Role.USER) or _response_problem(self._open_calls, message)
        if problem:
            raise ValueError(f"The message {problem}.")
        if self._messages and self._messages[-1].role is Role.USER:
            message = Message(Role.USER, self._messages[-1].parts + message.parts)
            self._messages[-1] = message
        else:
            self._messages.append(message)
        if self._open_calls:
            self._open_calls = ()
            self._committed = message
        return message

    def add_model(self, message: Message) -> Message:
        """Add an answer; returns it as it stands in the history, every call with an id of its own.

        A call without an id, or with one that was given before, gets another. Raises ValueError for an empty message,
        and where a model has nothing to answer.
        """
        problem = _message_problem(message, Role.MODEL)
        if not problem and (not self._messages or self._messages[-1].role is Role.MODEL):
            problem = "answers nothing"
        if problem:
            raise ValueError(f"The message {problem}.")
        message = _with_parts(message, tuple(self._ids.assign(_merge_texts(message.parts))))
        self._messages.append(message)
        self._open_calls = message.calls
        self._committed = None
        return message

    def drop_unanswered_prompt(self) -> bool:
        """Take back what the person said last and nobody answered; False if there is nothing of that kind.

        Responses to calls stay, and so does what the history was made of or replaced by.
        """
        if not self._messages or self._messages[-1].role is Role.MODEL or self._messages[-1] is self._committed:
            return False
        if self._committed is None:
            self._messages.pop()
        else:
            self._messages[-1] = self._committed
        return True

    def commit(self) -> None:
        """What is there now stays, whatever becomes of the next prompt."""
        is_user = self._messages and self._messages[-1].role is Role.USER
        self._committed = self._messages[-1] if is_user else None

    def replace_all(self, messages: Sequence[Message]) -> None:
        """Go on with these messages instead. Raises ValueError, and changes nothing, if they are not legal."""
        problem = history_problem(messages)
        if problem:
            raise ValueError(problem)
        self._messages = list(messages)
        self._ids.used.update(call.id for message in messages for call in message.calls if call.id)
        self._open_calls = ()
        self.commit()


def history_problem(messages: Iterable[Message]) -> str | None:
    """The first thing that keeps the messages from being a legal history, as a sentence."""
    ids: set[str] = set()
    role = Role.MODEL
    open_calls: tuple[FunctionCall, ...] = ()
    for number, message in enumerate(messages, 1):
        role = Role.MODEL if role is Role.USER else Role.USER
        problem = _message_problem(message, role) or _response_problem(open_calls, message)
        open_calls = message.calls
        for call in open_calls:
            if not call.id or call.id in ids:
                problem = problem or f"has a call of {call.name} without an id of its own"
            else:
                ids.add(call.id)
        if problem:
            return f"Message {number} {problem}."
    return f"The call of {open_calls[0].name} at the end is not answered." if open_calls else None


def _message_problem(message: Message, role: Role) -> str | None:
    """What is wrong with it by itself where the role is to speak, told of "the message"."""
    if message.role is not role:
        return f"is the {message.role}'s where the {role} is to speak"
    if message.is_empty:
        return "is empty"
    misplaced = _MISPLACED[role]
    if any(isinstance(part, misplaced) for part in message.parts):
        return f"is the {role}'s and holds a {misplaced.__name__}"
    return None


_MISPLACED: dict[Role, type[FunctionCall | FunctionResponse]] = {
    Role.USER: FunctionCall,
    Role.MODEL: FunctionResponse,
}


def _response_problem(calls: tuple[FunctionCall, ...], message: Message) -> str | None:
    if [(call.id, call.name) for call in calls] == [(response.id, response.name) for response in message.responses]:
        return None
    asked = ", ".join(call.name for call in calls) or "nothing"
    answered = ", ".join(response.name for response in message.responses) or "nothing"
    return f"answers {answered} where {asked} was asked"


def _merge_texts(parts: Sequence[MessagePart]) -> Iterator[MessagePart]:
    """Neighbouring texts as one. A signature belongs to the very text it came with, so signed ones stay apart."""
    for is_plain, run in groupby(parts, lambda part: isinstance(part, Text) and part.signature is None):
        found = list(run)
        if is_plain and len(found) > 1:
            yield Text("".join(part.text for part in found if isinstance(part, Text)))
        else:
            yield from found


def _with_parts(message: Message, parts: tuple[MessagePart, ...]) -> Message:
    """The same object if these are its parts already."""
    if len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return Message(message.role, parts)


class _CallIdAllocator:
    """Gives every call an id of its own. `taken` belong to calls already; `reserved` may only be kept, never given."""

    def __init__(self, *, reserved: Iterable[str | None] = ()) -> None:
        self.used: set[str] = set()
        self._reserved = frozenset(reserved)
        self._number = 0

    def assign(self, parts: Iterable[MessagePart]) -> Iterator[MessagePart]:
        """The parts, those that are calls with an id that no other call has."""
        for part in parts:
            yield self._with_unique_id(part) if isinstance(part, FunctionCall) else part

    def _with_unique_id(self, call: FunctionCall) -> FunctionCall:
        if call.id and call.id not in self.used:
            self.used.add(call.id)
            return call
        given = None
        while given is None or given in self.used or given in self._reserved:
            self._number += 1
            given = f"{GENERATED_ID_PREFIX}{self._number}"
        self.used.add(given)
        return replace(call, id=given)


def repair_history(messages: Iterable[Message]) -> tuple[list[Message], list[str]]:
    """A legal history of any messages, and what was put right, as sentences. What is legal stays the same object.

    No words are lost: only responses without a call, calls that the user made, and empty messages are left out.
    """
    given = list(messages)
    if history_problem(given) is None:
        return given, []
    repairing = _HistoryRepairer(given)
    for message in _merge_turns(given, repairing.repairs):
        repairing.add_turn(message)
    repairing.close_open_calls()
    return repairing.messages, [_format_repair(what, count) for what, count in repairing.repairs.items()]


def _merge_turns(messages: Iterable[Message], repairs: Counter[str]) -> Iterator[Message]:
    """One message for each turn, nothing in it that its role cannot say, none empty."""
    sound: list[Message] = []
    for message in messages:
        kept = tuple(part for part in message.parts if not isinstance(part, _MISPLACED[message.role]))
        if len(kept) < len(message.parts):
            repairs[gettext_lazy("Left out what the {role} cannot say", role=message.role)] += 1
        speaking = _with_parts(message, kept)
        if speaking.is_empty:
            repairs[gettext_lazy("Left out an empty message")] += 1
        else:
            sound.append(speaking)
    for role, turn in groupby(sound, lambda message: message.role):
        first, *others = turn
        if others:
            repairs[gettext_lazy("Joined neighbouring messages of the {role}", role=role)] += len(others)
            first = Message(role, tuple(part for message in (first, *others) for part in message.parts))
        yield first


class _HistoryRepairer:
    """The legal messages so far. Calls whose answer comes next are kept with the id that they were asked with."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: list[Message] = []
        self.repairs: Counter[str] = Counter()
        self._ids = _CallIdAllocator(reserved=(call.id for message in messages for call in message.calls))
        self._open: list[tuple[str | None, FunctionCall]] = []

    def add_turn(self, message: Message) -> None:
        """The next turn."""
        if message.role is Role.USER:
            self._add_user_turn(message)
        else:
            self._add_model_turn(message)

    def close_open_calls(self) -> None:
        """The conversation ends here."""
        if self._open:
            self.messages.append(Message(Role.USER, tuple(self._ordered_responses(()))))

    def _add_user_turn(self, message: Message) -> None:
        if _response_problem(tuple(call for _, call in self._open), message) is not None:
            before = self.repairs.total()
            message = Message(Role.USER, tuple(self._ordered_responses(message.parts)))
            if self.repairs.total() == before:
                self.repairs[gettext_lazy("Put results in the order of their calls")] += 1
        self._open = []
        if message.is_empty:
            self.repairs[gettext_lazy("Left out an empty message")] += 1
        else:
            self.messages.append(message)

    def _add_model_turn(self, message: Message) -> None:
        owned = _with_parts(message, tuple(self._ids.assign(message.parts)))
        self._open = [(asked.id, call) for asked, call in zip(message.calls, owned.calls, strict=True)]
        if owned is not message:
            self.repairs[gettext_lazy("Gave a call an id of its own")] += 1
        if not self.messages:
            self.repairs[gettext_lazy("Said that the beginning is missing")] += 1
            self.messages.append(user_message(MISSING_BEGINNING))
        if self.messages[-1].role is Role.MODEL:
            # What stood between was empty, and so nothing was asked there.
            self.messages[-1] = Message(Role.MODEL, self.messages[-1].parts + owned.parts)
        else:
            self.messages.append(owned)

    def _ordered_responses(self, parts: tuple[MessagePart, ...]) -> Iterator[MessagePart]:
        """The parts of a user message, with the responses to the open calls first and in order, and no others."""
        rest, results = _split_by_response(parts)
        waiting: dict[tuple[str | None, str], deque[tuple[FunctionResponse, list[MessagePart]]]] = {}
        for response, following in results:
            key = (response.id, "") if response.id else (None, response.name)
            waiting.setdefault(key, deque()).append((response, following))
        for asked_id, call in self._open:
            found = waiting.get((asked_id, "")) or waiting.get((None, call.name))
            if found:
                response, following = found.popleft()
                yield FunctionResponse(call.name, response.response, call.id)
                yield from following
            else:
                self.repairs[gettext_lazy("Answered a call without a result as interrupted")] += 1
                yield interrupted_response(call)
        yield from rest
        for left_over in waiting.values():
            for _, following in left_over:
                self.repairs[gettext_lazy("Left out a result that nobody asked for")] += 1
                yield from following


def _split_by_response(
    parts: Iterable[MessagePart],
) -> tuple[list[MessagePart], list[tuple[FunctionResponse, list[MessagePart]]]]:
    """What stands before the first response, and each response with what follows it: the media that belong to it."""
    before: list[MessagePart] = []
    results: list[tuple[FunctionResponse, list[MessagePart]]] = []
    for part in parts:
        if isinstance(part, FunctionResponse):
            results.append((part, []))
        else:
            following = results[-1][1] if results else before
            following.append(part)
    return before, results


def _format_repair(repair: str, count: int) -> str:
    return f"{repair}." if count == 1 else f"{repair}, {count} times."

"""Conversation history: legal message sequences, and the repair of others.

A legal history begins with a user message; roles alternate; every function call is in a model message, has a unique id
and is answered by exactly one function response in the user message that follows, in the order of the calls; there are
no other responses; no message is empty. Every model service accepts such a history.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tejat.core.frozen import field, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import FunctionCall, FunctionResponse, MessagePart, Text, Thought
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.rich_value import RichValue

GENERATED_ID_PREFIX = "tejat-"
"""The prefix of ids given to calls without a unique id."""

INTERRUPTED_ERROR = "[Operation Cancelled] Reason: The session was interrupted before this call had a result."
MISSING_START = "[The beginning of this conversation is missing.]"


class Role(StrEnum):
    """Who a message is from. Results of calls are messages of the user."""

    USER = "user"
    MODEL = "model"


class Message(RichValue, eq=False):
    """A message, compared by identity: encoders can cache their work per message."""

    role: Role
    parts: tuple[MessagePart, ...]
    known_tokens: int | None = field(default=None, init=False, repr=False, compare=False, is_local=True)
    """The estimate of `core/messages/tokens.py`: a long history is estimated again and again."""

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        return tuple([part for part in self.parts if isinstance(part, FunctionCall)])

    @property
    def responses(self) -> tuple[FunctionResponse, ...]:
        return tuple([part for part in self.parts if isinstance(part, FunctionResponse)])

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def is_empty(self) -> bool:
        """Whether it has no call, media or text. Thoughts do not count: some services do not take them back."""
        for part in self.parts:
            if isinstance(part, Text):
                if part.text and not part.text.isspace():
                    return False
            elif not isinstance(part, Thought):
                return False
        return True


def user_message(*parts: MessagePart | str) -> Message:
    return Message(Role.USER, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def model_message(*parts: MessagePart | str) -> Message:
    return Message(Role.MODEL, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def interrupted_response(call: FunctionCall) -> FunctionResponse:
    """The response to a call whose result is unknown."""
    return FunctionResponse(call.name, {"error": INTERRUPTED_ERROR}, call.id)


class History:
    """A conversation that is legal whenever no call is open.

    Messages are never changed: one that has to be merged is replaced by a new object.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        """Raises ValueError if the messages are not legal; see `repair_history`."""
        self._ids = _CallIdAllocator()
        self._messages: list[Message] = []
        self._open_calls: tuple[FunctionCall, ...] = ()
        self._committed: Message | None = None
        self.replace_all(tuple(messages))

    @property
    def messages(self) -> Sequence[Message]:
        """The live list. Do not modify it."""
        return self._messages

    @property
    def open_calls(self) -> tuple[FunctionCall, ...]:
        """The calls of the last message, which the next message has to answer."""
        return self._open_calls

    def add_user(self, message: Message) -> Message:
        """Add a prompt or responses to calls, and return the message as stored.

        If the last message is a user message too, they are merged. Raises ValueError for an empty message and for
        responses that do not match the open calls one by one.
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
        """Add a model message, and return it as stored, every call with a unique id.

        A call without an id, or with one used before, gets a new one. Raises ValueError for an empty message, and if
        there is nothing to answer.
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
        """Remove the last prompt if no model has answered it, and return whether there was one.

        Responses to calls stay, and so do initial and committed messages.
        """
        if not self._messages or self._messages[-1].role is Role.MODEL or self._messages[-1] is self._committed:
            return False
        if self._committed is None:
            self._messages.pop()
        else:
            self._messages[-1] = self._committed
        return True

    def commit(self) -> None:
        """Protect the present messages from `drop_unanswered_prompt`."""
        is_user = self._messages and self._messages[-1].role is Role.USER
        self._committed = self._messages[-1] if is_user else None

    def replace_all(self, messages: Sequence[Message]) -> None:
        """Replace all messages. Raises ValueError, and changes nothing, if they are not legal."""
        ids: set[str] = set()
        problem = _find_problem(messages, ids)
        if problem:
            raise ValueError(problem)
        self._messages = list(messages)
        self._ids.used |= ids
        self._open_calls = ()
        self.commit()


def history_problem(messages: Iterable[Message]) -> str | None:
    """The first reason why the messages are not a legal history, as a sentence; None if they are."""
    return _find_problem(messages, set())


def _find_problem(messages: Iterable[Message], ids: set[str]) -> str | None:
    """Do what `history_problem` does, and add the ids of all calls to `ids`."""
    role, other_role = Role.USER, Role.MODEL
    open_calls: Sequence[FunctionCall] = ()
    for number, message in enumerate(messages, 1):
        calls, is_plain = _read_parts(message, role, open_calls)
        problem = None if is_plain else _message_problem(message, role) or _response_problem(open_calls, message)
        for call in calls:
            if not call.id or call.id in ids:
                problem = problem or f"has a call of {call.name} without an id of its own"
            else:
                ids.add(call.id)
        if problem:
            return f"Message {number} {problem}."
        open_calls = calls
        role, other_role = other_role, role
    return f"The call of {open_calls[0].name} at the end is not answered." if open_calls else None


def _read_parts(message: Message, role: Role, open_calls: Sequence[FunctionCall]) -> tuple[list[FunctionCall], bool]:
    """Return the calls of a message, and whether nothing is wrong with its role and parts, in one pass.

    A long session has tens of thousands of messages. False means that the reason has to be found.
    """
    calls: list[FunctionCall] = []
    is_empty, responses = True, 0
    for part in message.parts:
        if isinstance(part, FunctionResponse):
            call = open_calls[responses] if responses < len(open_calls) else None
            if call is None or part.id != call.id or part.name != call.name:
                return list(message.calls), False
            responses += 1
        elif isinstance(part, FunctionCall):
            calls.append(part)
        elif is_empty and isinstance(part, Text):
            is_empty = not part.text or part.text.isspace()
        elif not isinstance(part, Thought):
            is_empty = False
    is_empty = is_empty and not calls and not responses
    is_placed = not calls if role is Role.USER else not responses
    return calls, message.role is role and is_placed and not is_empty and responses == len(open_calls)


def _message_problem(message: Message, role: Role) -> str | None:
    """The problem with one message where `role` is expected, as a predicate of "the message"."""
    if message.role is not role:
        return f"is the {message.role}'s where the {role} is to speak"
    if message.is_empty:
        return "is empty"
    misplaced = _MISPLACED[role]
    for part in message.parts:
        if isinstance(part, misplaced):
            return f"is the {role}'s and holds a {misplaced.__name__}"
    return None


_MISPLACED: dict[Role, type[FunctionCall | FunctionResponse]] = {Role.USER: FunctionCall, Role.MODEL: FunctionResponse}


def _response_problem(calls: Sequence[FunctionCall], message: Message) -> str | None:
    responses = message.responses
    if [(call.id, call.name) for call in calls] == [(response.id, response.name) for response in responses]:
        return None
    asked = ", ".join(call.name for call in calls) or "nothing"
    answered = ", ".join(response.name for response in responses) or "nothing"
    return f"answers {answered} where {asked} was asked"


def _merge_texts(parts: Sequence[MessagePart]) -> Iterator[MessagePart]:
    """Merge adjacent texts. Signed ones stay apart, because a signature belongs to its text."""
    for is_plain, run in groupby(parts, lambda part: isinstance(part, Text) and part.signature is None):
        found = list(run)
        if is_plain and len(found) > 1:
            yield Text("".join(part.text for part in found if isinstance(part, Text)))
        else:
            yield from found


def _with_parts(message: Message, parts: tuple[MessagePart, ...]) -> Message:
    """The message with these parts; the same object if they are its parts."""
    if len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return Message(message.role, parts)


class _CallIdAllocator:
    """Gives every call a unique id. `used` ids belong to calls; `reserved` ones may be kept but not given."""

    def __init__(self, *, reserved: Iterable[str | None] = ()) -> None:
        self.used: set[str] = set()
        self._reserved = frozenset(reserved)
        self._number = 0

    def assign(self, parts: Iterable[MessagePart]) -> Iterator[MessagePart]:
        """The parts, with unique ids for calls."""
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
    """A legal history of any messages, and the repairs as sentences. Legal messages stay the same objects.

    No text is lost: only responses without a call, calls in user messages, and empty messages are dropped.
    """
    given = list(messages)
    if history_problem(given) is None:
        return given, []
    repairing = _HistoryRepairer(given)
    for message in _merge_turns(given, repairing.repairs):
        repairing.add_turn(message)
    repairing.close_open_calls()
    repairs = [f"{what}." if count == 1 else f"{what}, {count} times." for what, count in repairing.repairs.items()]
    return repairing.messages, repairs


def _merge_turns(messages: Iterable[Message], repairs: Counter[str]) -> Iterator[Message]:
    """One message per turn, without misplaced parts and empty messages."""
    sound: list[Message] = []
    for message in messages:
        kept = tuple(part for part in message.parts if not isinstance(part, _MISPLACED[message.role]))
        if len(kept) < len(message.parts):
            repairs[lazy("Removed content that the {role} cannot have", role=message.role)] += 1
        speaking = _with_parts(message, kept)
        if speaking.is_empty:
            repairs[lazy("Removed an empty message")] += 1
        else:
            sound.append(speaking)
    for role, turn in groupby(sound, lambda message: message.role):
        first, *others = turn
        if others:
            repairs[lazy("Merged adjacent {role} messages", role=role)] += len(others)
            first = Message(role, tuple(part for message in (first, *others) for part in message.parts))
        yield first


class _HistoryRepairer:
    """The legal messages so far, and the open calls with their original ids."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: list[Message] = []
        self.repairs: Counter[str] = Counter()
        self._ids = _CallIdAllocator(reserved=(call.id for message in messages for call in message.calls))
        self._open: list[tuple[str | None, FunctionCall]] = []

    def add_turn(self, message: Message) -> None:
        if message.role is Role.USER:
            self._add_user_turn(message)
        else:
            self._add_model_turn(message)

    def close_open_calls(self) -> None:
        """Answer open calls at the end of the conversation."""
        if self._open:
            self.messages.append(Message(Role.USER, tuple(self._ordered_responses(()))))

    def _add_user_turn(self, message: Message) -> None:
        if _response_problem(tuple(call for _, call in self._open), message) is not None:
            before = self.repairs.total()
            message = Message(Role.USER, tuple(self._ordered_responses(message.parts)))
            if self.repairs.total() == before:
                self.repairs[lazy("Reordered results to match their calls")] += 1
        self._open = []
        if message.is_empty:
            self.repairs[lazy("Removed an empty message")] += 1
        else:
            self.messages.append(message)

    def _add_model_turn(self, message: Message) -> None:
        owned = _with_parts(message, tuple(self._ids.assign(message.parts)))
        self._open = [(asked.id, call) for asked, call in zip(message.calls, owned.calls, strict=True)]
        if owned is not message:
            self.repairs[lazy("Assigned a call its own id")] += 1
        if not self.messages:
            self.repairs[lazy("Added a note that the beginning is missing")] += 1
            self.messages.append(user_message(MISSING_START))
        if self.messages[-1].role is Role.MODEL:
            # The user message between them was empty.
            self.messages[-1] = Message(Role.MODEL, self.messages[-1].parts + owned.parts)
        else:
            self.messages.append(owned)

    def _ordered_responses(self, parts: tuple[MessagePart, ...]) -> Iterator[MessagePart]:
        """The parts of a user message, responses to the open calls first and in order, without other responses."""
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
                self.repairs[lazy("Marked a call without a result as interrupted")] += 1
                yield interrupted_response(call)
        yield from rest
        for left_over in waiting.values():
            for _, following in left_over:
                self.repairs[lazy("Removed a result without a call")] += 1
                yield from following


def _split_by_response(
    parts: Iterable[MessagePart],
) -> tuple[list[MessagePart], list[tuple[FunctionResponse, list[MessagePart]]]]:
    """The parts before the first response, and each response with the media that follow it."""
    before: list[MessagePart] = []
    results: list[tuple[FunctionResponse, list[MessagePart]]] = []
    for part in parts:
        if isinstance(part, FunctionResponse):
            results.append((part, []))
        else:
            following = results[-1][1] if results else before
            following.append(part)
    return before, results

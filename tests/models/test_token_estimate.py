from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought
from tejat.core.model import ModelRequest
from tejat.core.tools.base import FunctionDeclaration
from tejat.models.token_estimate import estimate_tokens


def test_text_counts_by_its_bytes_and_rather_too_much() -> None:
    assert estimate_tokens(ModelRequest([user_message("x" * 300)])) == 104
    assert estimate_tokens(ModelRequest([user_message("語" * 300)])) == 304
    assert estimate_tokens(ModelRequest([], system="x" * 30)) == 10


def test_every_part_counts() -> None:
    parts = (
        Text("abc", "sig"),
        Thought("abc", "sig"),
        FunctionCall("run", {"a": "b" * 87}, signature="abc"),
        FunctionResponse("run", {"output": "x" * 300}),
        Opaque("gemini", {"x": "y" * 92}),
    )
    alone = [estimate_tokens(ModelRequest([model_message(part)])) - 4 for part in parts]
    assert alone == [2, 2, 34, 106, 34]
    assert estimate_tokens(ModelRequest([model_message(*parts)])) == sum(alone) + 4


def test_media_count_within_bounds() -> None:
    sizes = (10, 100_000, 50_000_000)
    media = [estimate_tokens(ModelRequest([user_message(InlineData("image/png", bytes(size)))])) - 4 for size in sizes]
    assert media == [258, 1000, 50_000]
    assert estimate_tokens(ModelRequest([user_message(FileData("video/mp4", "https://x/y"))])) == 50_004


def test_tools_count() -> None:
    tool = FunctionDeclaration("run", "Runs.", {"type": "object"})
    assert estimate_tokens(ModelRequest([], tools=(tool, tool))) == 2 * estimate_tokens(ModelRequest([], tools=(tool,)))

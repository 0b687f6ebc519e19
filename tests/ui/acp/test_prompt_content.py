"""Prompts of a client: text, links, pictures, embedded files, in their order, and clear refusals."""

import asyncio
import tracemalloc
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from support.interactive import InteractiveEnv
from support.media_files import png
from tejat.core.agent.events import EndReason, Noticed, Prompted
from tejat.core.messages.prompt import Attachment, Prompt
from tejat.core.messages.types import InlineData, MessagePart, Text
from tejat.mcp.protocol import INVALID_PARAMS
from tejat.ui.acp.prompt_content import MAX_BLOCKS, parse_prompt
from tejat.ui.jsonrpc.peer import RequestError

Block = dict[str, Any]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def link(uri: str, **more: Any) -> Block:
    return {"type": "resource_link", "uri": uri, "name": "a name", **more}


def image(data: bytes = png()) -> Block:
    return {"type": "image", "mimeType": "image/jpeg", "data": b64encode(data).decode()}


def embedded(uri: str, **content: str) -> Block:
    return {"type": "resource", "resource": {"uri": uri, **content}}


def parse(*blocks: Block) -> Prompt:
    return parse_prompt(list(blocks), folder="/w")


class TestText:
    @pytest.mark.parametrize(
        ("blocks", "expected"),
        [
            ([text("/help")], "/help"),
            ([text("see @a.py and "), text("@b.py")], "see @a.py and @b.py"),
            ([text("one"), text("two")], "one\ntwo"),
            ([text("one"), text("\ntwo")], "one\ntwo"),
            ([text(""), text("two")], "two"),
            ([text("")], ""),
        ],
    )
    def test_text_alone_is_what_the_user_typed(self, blocks: list[Block], expected: str) -> None:
        assert parse(*blocks) == expected

    def test_unknown_members_are_ignored(self) -> None:
        assert parse({**text("a"), "annotations": {"priority": 1}, "_meta": {}}) == "a"


class TestLinks:
    @pytest.mark.parametrize(
        ("blocks", "expected"),
        [
            ([text("look at "), link("file:///w/src/a.py"), text(" please")], "look at @src/a.py please"),
            ([text("look at"), link("file:///w/a.py"), text("please")], "look at @a.py please"),
            ([text("look at "), link("file:///w/a.py"), text(", then stop")], "look at @a.py, then stop"),
            ([link("file:///w/a.py"), link("file:///w/b.py")], "@a.py @b.py"),
            ([link("file:///other/a.py")], "@/other/a.py"),
            ([link("file:///w")], "@/w"),
            ([link("file:///w2/a")], "@/w2/a"),
            ([link("file:///w/a%20b%2Cc.py")], r"@a\ b\,c.py"),
            ([link("FILE://localhost/w/../w/a")], "@a"),
            ([link("file:///w/a.py#L10")], "@a.py (line 10)"),
            ([link("file:///w/a.py#L10-L20")], "@a.py (lines 10-20)"),
            ([link("file:///w/a.py#L10:20")], "@a.py (lines 10-20)"),
            ([link("file:///w/a.py#L7-7")], "@a.py (line 7)"),
            ([link("file:///w/a.py#top")], "@a.py"),
            ([link("file:///w/%ff")], "@\udcff"),
        ],
    )
    def test_a_link_to_a_file_is_a_mention(self, blocks: list[Block], expected: str) -> None:
        assert parse(*blocks) == expected

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            (link("https://a/x"), "[Link: a name (https://a/x)]"),
            (link("https://a/", title="A page", description="of\ntext"), "[Link: A page, of text (https://a/)]"),
            (link("file://host/w/a"), "[Link: a name (file://host/w/a)]"),
            (link("file:a"), "[Link: a name (file:a)]"),
            (link("file:///w/a%0Ab"), "[Link: a name (file:///w/a%0Ab)]"),
            (link("file:///w/a%00"), "[Link: a name (file:///w/a%00)]"),
            (link("http://[bad"), "[Link: a name (http://[bad)]"),
        ],
    )
    def test_another_link_is_named(self, block: Block, expected: str) -> None:
        assert parse(text("see "), block) == ("see ", Attachment(expected, (Text(expected),)))


class TestMedia:
    def test_a_picture_keeps_its_place(self) -> None:
        picture = InlineData("image/png", png())
        assert parse(text("What is "), image(), text("?")) == ("What is ", Attachment(picture.label, (picture,)), "?")

    def test_a_recording(self) -> None:
        data = b64encode(b"\x01\x02").decode()
        (piece,) = parse({"type": "audio", "mimeType": "audio/ogg", "data": data})
        assert piece == Attachment("[audio/ogg, 2 bytes]", (InlineData("audio/ogg", b"\x01\x02"),))

    def test_many_large_pictures_are_too_much(self) -> None:
        huge = png() + bytes(11 * 2**20)
        with pytest.raises(RequestError, match=r"prompt\[1\]: The media of the prompt have more than 20 MB together"):
            parse(image(huge), image(huge))


class TestEmbeddedResources:
    def test_the_text_of_a_file_has_its_name(self) -> None:
        label = "@src/a.py (lines 1-2)"
        shown = f"\n--- Content of {label} ---\nimport @x\n\n--- End of {label} ---\n"
        blocks = text("Explain "), embedded("file:///w/src/a.py#L1:2", text="import @x\n")
        assert parse(*blocks) == ("Explain ", Attachment(label, (Text(shown),)))

    def test_another_resource_has_its_uri(self) -> None:
        (piece,) = parse(embedded("zed:///agent/rule\n1", text="Be brief."))
        shown = "\n--- Content of zed:///agent/rule 1 ---\nBe brief.\n--- End of zed:///agent/rule 1 ---\n"
        assert piece == Attachment("zed:///agent/rule 1", (Text(shown),))

    def test_the_data_of_a_text_file_is_its_text(self) -> None:
        data = b64encode(b"one").decode()
        (piece,) = parse(embedded("file:///w/a.txt", blob=data))
        assert piece == Attachment("@a.txt", (Text("\n--- Content of @a.txt ---\none\n--- End of @a.txt ---\n"),))

    def test_the_data_of_a_picture_is_a_picture(self) -> None:
        (piece,) = parse(embedded("file:///w/a.png", blob=b64encode(png()).decode()))
        picture = InlineData("image/png", png())
        assert piece == Attachment("@a.png", (Text("\n--- Content of @a.png ---\n"), picture))

    def test_large_texts_are_not_copied_more_than_once(self) -> None:
        words = "x" * (60 * 2**20)
        tracemalloc.start()
        try:
            parse(embedded("file:///w/a.txt", text=words))
            peak = tracemalloc.get_traced_memory()[1]
            parse(text(words))
        finally:
            tracemalloc.stop()
        assert peak < 1.2 * len(words)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (None, "prompt must be a list of content blocks."),
        ("text", "prompt must be a list of content blocks."),
        ([], "prompt must be a list of content blocks."),
        ([text("a")] * (MAX_BLOCKS + 1), "prompt has more than 10000 blocks."),
        ([text("a"), "b"], "prompt[1]: A content block must be an object."),
        ([{"type": "video"}], "prompt[0]: Unknown type of content: 'video'."),
        ([{}], "prompt[0]: Unknown type of content: None."),
        ([{"type": "text"}], "prompt[0]: A block of the type text needs text."),
        ([{"type": "text", "text": 5}], "prompt[0]: A block of the type text needs text."),
        ([{"type": "image", "data": "AAAA"}], "prompt[0]: A block of the type image needs data and mimeType."),
        ([{"type": "resource", "resource": {"uri": "x"}}], "needs a resource with uri, and text or blob."),
        ([{"type": "resource_link", "uri": "x"}], "prompt[0]: A block of the type resource_link needs uri and name."),
        ([image(b"GIF89a")], "prompt[0]: The picture is damaged or incomplete."),
        ([embedded("file:///w/a.zip", blob="AAAA")], "prompt[0]: It is binary data, which models do not take."),
    ],
)
def test_wrong_prompts_are_refused_with_a_reason(blocks: Any, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        parse_prompt(blocks)
    assert message in str(raised.value)
    assert raised.value.code == INVALID_PARAMS


class TestSessions:
    """What the model gets for prompts of a client."""

    def ask(
        self, tmp_path: Path, *blocks: Block, reason: EndReason = EndReason.FINISHED
    ) -> tuple[list[Any], list[MessagePart]]:
        env = InteractiveEnv(tmp_path)
        (env.project / "a.py").write_text("print(1)\n")
        (env.project / "b.py").write_text("print(2)\n")
        commands = env.project / ".gemini" / "commands"
        commands.mkdir(parents=True)
        (commands / "explain.toml").write_text('prompt = "Explain this:"\n')

        async def main() -> list[Any]:
            async with env.open_runner(trusts_folder=True) as runner:
                ended = await runner.interactive.prompt(parse_prompt(list(blocks), folder=str(env.project)))
                assert ended.reason is reason
                return runner.events

        events = asyncio.run(main())
        (prompted,) = [event for event in events if isinstance(event, Prompted)]
        return events, list(prompted.message.parts)

    def test_text_between_attachments_is_expanded_in_its_place(self, tmp_path: Path) -> None:
        uri = f"file://{tmp_path}/project/b.py"
        events, parts = self.ask(
            tmp_path, text("see @a.py "), image(), text("and "), link(uri), embedded("x:y", text="@a.py")
        )
        texts = [part.text if isinstance(part, Text) else type(part).__name__ for part in parts]
        assert texts[:5] == [
            "see @a.py ",
            "\n--- Content from referenced files ---",
            "\nContent from @a.py:\n",
            "print(1)",
            "\n--- End of content ---",
        ]
        assert texts[5] == "InlineData"
        assert texts[6] == "and @b.py"
        assert "print(2)" in texts
        assert texts[-1] == "\n--- Content of x:y ---\n@a.py\n--- End of x:y ---\n"
        (prompted,) = [event for event in events if isinstance(event, Prompted)]
        picture = InlineData("image/png", png())
        assert prompted.display_text == f"see @a.py {picture.label} and @b.py x:y"

    def test_a_command_can_have_attachments(self, tmp_path: Path) -> None:
        _, parts = self.ask(tmp_path, text("/explain "), image())
        assert parts == [Text("Explain this:"), InlineData("image/png", png())]

    def test_only_the_first_text_calls_a_command(self, tmp_path: Path) -> None:
        _, parts = self.ask(tmp_path, image(), text("/explain it"))
        assert parts == [InlineData("image/png", png()), Text("/explain it")]

    def test_a_link_out_of_the_project_is_named_and_explained(self, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text("secret")
        events, parts = self.ask(tmp_path, text("see "), link(f"file://{tmp_path}/secret.txt"))
        assert parts == [Text(f"see @{tmp_path}/secret.txt")]
        assert any("is sent as plain text" in event.message for event in events if isinstance(event, Noticed))

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.acp.client import ClientCapabilities, parse_capabilities

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["fs", "auth", "terminal", "elicitation", "form", "_meta", "session"]), inner)
    ),
    max_leaves=8,
)


def test_everything_that_a_client_can_say() -> None:
    given_capabilities = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}},
        "_meta": {"terminal_output": True},
    }
    assert parse_capabilities(given_capabilities) == ClientCapabilities(
        reads_files=True,
        writes_files=True,
        has_terminals=True,
        shows_forms=True,
        opens_urls=True,
        has_boolean_options=True,
        can_log_in=True,
        shows_terminal_output=True,
    )


def test_what_is_not_said_is_missing() -> None:
    assert parse_capabilities({}) == parse_capabilities(None) == ClientCapabilities()
    assert parse_capabilities({"elicitation": {"form": None}, "fs": {"readTextFile": 1}}) == ClientCapabilities()


@given(JSON)
def test_nonsense_is_never_an_error(value: object) -> None:
    assert isinstance(parse_capabilities(value), ClientCapabilities)  # pyright: ignore[reportArgumentType]

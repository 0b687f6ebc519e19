"""The values of a search are plain, and their defaults are what people expect."""

from tejat.workspace.search.types import SearchEngine, SearchQuery


def test_the_fastest_engine_comes_first() -> None:
    assert list(SearchEngine) == [SearchEngine.RIPGREP, SearchEngine.GIT_GREP, SearchEngine.GREP, SearchEngine.PYTHON]


def test_a_plain_query() -> None:
    assert SearchQuery(pattern="x") == SearchQuery(
        pattern="x",
        exclude_pattern=None,
        case_sensitive=False,
        fixed_strings=False,
        include=None,
        before=0,
        after=0,
        max_matches_per_file=None,
        total_max_matches=100,
        names_only=False,
        exclude_directories=frozenset({b".git", b".hg", b".svn", b"bower_components", b"node_modules"}),
    )

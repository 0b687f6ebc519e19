"""Stand-ins go in and come out again exactly; secrets never come out."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.models.recording.placeholders import MASK, Placeholders

HERE = {"/tmp/here": "${root}", "/tmp": "${home}", "2026-11-16": "${date}"}
THERE = {"/srv/there": "${root}", "/root": "${home}", "1999-01-01": "${date}"}


def cut(text: str, cuts: list[int]) -> list[str]:
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(borders)]


class TestStandIns:
    def test_texts_keys_and_lists(self) -> None:
        value = {"/tmp/here/a": ["in /tmp/here", {"on": "2026-11-16", "n": 3, "x": None, "y": True, "z": 1.5}]}
        hidden = {"${root}/a": ["in ${root}", {"on": "${date}", "n": 3, "x": None, "y": True, "z": 1.5}]}
        assert Placeholders(HERE).substitute(value) == hidden
        assert Placeholders(HERE).restore(hidden) == value
        assert Placeholders(THERE).restore(hidden) == {
            "/srv/there/a": ["in /srv/there", {"on": "1999-01-01", "n": 3, "x": None, "y": True, "z": 1.5}]
        }

    @pytest.mark.parametrize(
        ("text", "hidden"),
        [
            ("/tmp/here/a.py", "${root}/a.py"),
            ("/tmp/here2", "${home}/here2"),
            ("/tmpfs", "/tmpfs"),
            ("12026-11-16", "12026-11-16"),
            ("'/tmp/here'", "'${root}'"),
            ("$/tmp", "$${home}"),
            ("${root}", "${=root}"),
            ("${=root}", "${==root}"),
            ("${root[0:3]}", "${=root[0:3]}"),
            ("${HOME} ${other}", "${HOME} ${other}"),
        ],
    )
    def test_what_is_written(self, text: str, hidden: str) -> None:
        assert Placeholders(HERE).substitute(text) == hidden
        assert Placeholders(HERE).restore(hidden) == text

    def test_a_text_in_pieces(self) -> None:
        pieces = ["look in /tm", "p/he", "", "re/a", "b"]
        hidden = Placeholders(HERE).substitute_pieces(pieces)
        assert hidden == ["look in ${root[0:3]}", "${root[3:7]}", "", "${root[7:]}/a", "b"]
        assert [Placeholders(HERE).restore_text(piece) for piece in hidden] == pieces
        assert "".join(map(Placeholders(THERE).restore_text, hidden)) == "look in /srv/there/ab"

    @settings(max_examples=400, deadline=None)
    @given(
        words=st.lists(
            st.sampled_from(
                ["/tmp/here", "/tmp", "2026-11-16", "${root}", "${", "=", "root", "[0:2]", "}", "$", "x", "é"]
            ),
            max_size=8,
        ),
        cuts=st.lists(st.integers(0, 40), max_size=6),
    )
    def test_any_pieces_come_back_the_same(self, words: list[str], cuts: list[int]) -> None:
        pieces = cut("".join(words), cuts)
        disguise = Placeholders(HERE)
        hidden = disguise.substitute_pieces(pieces)
        assert [disguise.restore_text(piece) for piece in hidden] == pieces
        # Elsewhere the whole is what it would be if it had never been cut.
        whole = Placeholders(THERE).restore(disguise.substitute("".join(pieces)))
        if "${root" not in "".join(pieces) and "${=" not in "".join(pieces):
            assert "".join(map(Placeholders(THERE).restore_text, hidden)) == whole

    def test_nothing_stands_for_nothing(self) -> None:
        assert Placeholders({"": "${root}"}).substitute("a ${root} b") == "a ${root} b"
        assert Placeholders({}).restore("a ${root} b") == "a ${root} b"

    @pytest.mark.parametrize("placeholders", [{"/a": "root"}, {"/a": "${a b}"}, {"/a": "${x}", "/b": "${x}"}])
    def test_words_have_one_form_and_one_meaning(self, placeholders: dict[str, str]) -> None:
        with pytest.raises(ValueError, match="Stand-ins must be different words"):
            Placeholders(placeholders)


class TestSecrets:
    def test_are_masked_wherever_they_are(self) -> None:
        disguise = Placeholders(HERE, ["hunter2", "", "hunter22"])
        assert disguise.substitute({"k hunter2": ["xhunter22y"]}) == {f"k {MASK}": [f"x{MASK}y"]}

    def test_also_beside_a_stand_in(self) -> None:
        assert Placeholders(HERE, ["here-secret"]).substitute("/tmp/here-secret") == "${home}/" + MASK

    def test_also_with_signs_that_mean_something_to_patterns(self) -> None:
        assert Placeholders({}, ["a.*(b"]).substitute("a.*(b axx(b") == f"{MASK} axx(b"

    def test_tokens_are_masked_by_their_shape(self) -> None:
        token = "xoxb-1234567890-abcdefghij"
        pieces = [f"a {token[:7]}", token[7:], " b"]
        assert Placeholders(HERE).substitute_pieces(pieces) == [f"a {MASK}", "", " b"]
        assert Placeholders(HERE).substitute({"k": f"a {token} b"}) == {"k": f"a {MASK} b"}
        assert Placeholders(HERE).substitute(f"a {MASK} b") == f"a {MASK} b"

    @settings(max_examples=200, deadline=None)
    @given(
        before=st.text(alphabet="ab/", max_size=4),
        after=st.text(alphabet="ab/", max_size=4),
        cuts=st.lists(st.integers(0, 20), max_size=8),
    )
    def test_no_cut_lets_a_secret_through(self, before: str, after: str, cuts: list[int]) -> None:
        pieces = cut(f"{before}S3CR3T{after}", cuts)
        hidden = Placeholders(HERE, ["S3CR3T"]).substitute_pieces(pieces)
        assert "".join(hidden) == f"{before}{MASK}{after}"
        assert len(hidden) == len(pieces)

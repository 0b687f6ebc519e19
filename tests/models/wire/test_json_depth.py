import json

from hypothesis import given
from hypothesis import strategies as st

from tejat.models.wire.json_depth import JsonDepth

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('{}[]"\\\\ab\n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('{"\\\\', max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON_VALUES, min_size=1, max_size=3), st.data())
def test_an_object_is_closed_at_its_end_and_not_before(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    nesting = JsonDepth()
    closed_at: list[int] = []
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        nesting.add(text[begin:end])
        closed_at += [end] if nesting.is_closed else []
    assert set(closed_at) == {len(text)}

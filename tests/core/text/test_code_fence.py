from tejat.core.text.code_fence import fence_code


def test_the_fence_is_longer_than_any_in_the_text() -> None:
    assert fence_code("print()", "python") == "```python\nprint()\n```"
    assert fence_code("```\nx\n````") == "`````\n```\nx\n````\n`````"

"""The todo list in words and signs."""

from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.shared.labels.todos import current_text, progress_label, todos_text

TODOS = TodoList(tuple(Todo(f"{status} one", status) for status in TodoStatus))


def test_signs_and_words() -> None:
    assert todos_text(TODOS).split("\n") == [
        "[ ] pending one",
        "[>] in_progress one (in progress)",
        "[x] completed one (done)",
        "[-] cancelled one (cancelled)",
        "[!] blocked one (blocked)",
    ]


def test_progress() -> None:
    assert progress_label(TODOS) == "1/4 done"
    assert current_text(TODOS) == "in_progress one"
    assert current_text(TodoList((Todo("x"),))) == "Todos"


def test_texts_of_the_model_stay_in_their_line() -> None:
    assert todos_text(TodoList((Todo("a\x1b[2J\nb"),))) == "[ ] a<U+001B>[2J (and 1 more line)"

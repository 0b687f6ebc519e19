"""Scrolling of lists and of content that is longer than its view."""


def first_visible(top: int, *, selected: int, visible: int, total: int) -> int:
    """Return the first visible row: `top`, moved as little as possible so that the selected row is visible."""
    return max(0, min(max(top, selected - visible + 1), selected, total - visible))


class ScrollPosition:
    """The first visible row of content that may be longer than its view."""

    def __init__(self) -> None:
        self.first = 0
        self._max_first = 0

    @property
    def can_scroll(self) -> bool:
        return self._max_first > 0

    def fit(self, *, visible: int, total: int) -> None:
        """Adapt to the size of a view and of its content."""
        self._max_first = max(0, total - visible)
        self.first = min(self.first, self._max_first)

    def press(self, key: str, *, page: int) -> None:
        """Scroll by a key; others are ignored. A page has `page` rows."""
        steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page, "home": -self.first, "end": self._max_first}
        self.first = max(0, min(self.first + steps.get(key, 0), self._max_first))

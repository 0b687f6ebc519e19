"""How much two words differ, for hints to whoever got one wrong."""


def distance(left: str, right: str) -> int:
    """How many single-character changes turn one word into the other."""
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (a != b)))
        previous = current
    return previous[-1]

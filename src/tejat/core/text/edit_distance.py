"""Edit distance, for "did you mean" hints."""


def edit_distance(left: str, right: str) -> int:
    """The number of insertions, deletions, substitutions and transpositions between two words."""
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            least = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b:
                least = min(least, before[column - 2] + 1)
            current.append(least)
        before, previous = previous, current
    return previous[-1]

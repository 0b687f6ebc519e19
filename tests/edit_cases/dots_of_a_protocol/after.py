import math


def load(path):
    with open(path) as file:
        text = file.read()
    rows = text.splitlines()
    return [row for row in rows if row]


class Total(Protocol):
    def __call__(self, rows):
        ...

import math


def load(path):
    with open(path) as file:
        text = file.read()
    rows = text.splitlines()
    return [row for row in rows if row]


def total(rows):
    return sum(map(float, rows))

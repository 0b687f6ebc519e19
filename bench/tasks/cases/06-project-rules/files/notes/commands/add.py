import sys


def run(arguments, store):
    if len(arguments) != 1:
        print("notes: add takes one note", file=sys.stderr)
        return 64
    store.add(arguments[0])
    return 0

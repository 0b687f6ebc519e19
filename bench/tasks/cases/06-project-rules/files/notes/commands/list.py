import sys


def run(arguments, store):
    if arguments:
        print("notes: list takes no arguments", file=sys.stderr)
        return 64
    for note in store.notes():
        print(note)
    return 0

import sys


def run(arguments, store):
    if len(arguments) != 1:
        print("notes: search takes one word", file=sys.stderr)
        return 64
    for note in store.notes():
        if arguments[0].lower() in note.lower():
            print(note)
    return 0

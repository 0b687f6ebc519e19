"""`python -m tejat`."""

from tejat.cli.main import program

if __name__ == "__main__":
    program()

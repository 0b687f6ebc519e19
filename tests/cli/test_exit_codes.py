"""Exit codes are part of the interface: scripts depend on them."""

from tejat.cli import exit_codes


def test_the_codes_of_the_manual() -> None:
    codes = {name: value for name, value in vars(exit_codes).items() if name.startswith("EXIT_")}
    assert codes == {
        "EXIT_OK": 0,
        "EXIT_FAILED": 1,
        "EXIT_USAGE": 2,
        "EXIT_NOT_CONFIRMED": 3,
        "EXIT_NO_SANDBOX": 44,
        "EXIT_INTERRUPTED": 130,
        "EXIT_BROKEN_PIPE": 141,
    }

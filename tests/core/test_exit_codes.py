"""Exit codes are part of the interface: scripts depend on them."""

from tejat.core import exit_codes


def test_the_codes_of_the_manual() -> None:
    codes = {name: value for name, value in vars(exit_codes).items() if name.startswith("EXIT_")}
    assert codes == {
        "EXIT_OK": 0,
        "EXIT_FAILED": 1,
        "EXIT_USAGE": 2,
        "EXIT_NOT_CONFIRMED": 3,
        "EXIT_AUTHENTICATION": 41,
        "EXIT_INPUT": 42,
        "EXIT_NO_SANDBOX": 44,
        "EXIT_CONFIGURATION": 52,
        "EXIT_LIMIT": 53,
        "EXIT_TOOL": 54,
        "EXIT_NOT_TRUSTED": 55,
        "EXIT_RATE_LIMITED": 60,
        "EXIT_UNAVAILABLE": 61,
        "EXIT_NO_CONNECTION": 62,
        "EXIT_TIMED_OUT": 63,
        "EXIT_BLOCKED": 64,
        "EXIT_EMPTY": 65,
        "EXIT_MALFORMED_CALL": 66,
        "EXIT_LOOP": 67,
        "EXIT_INTERRUPTED": 130,
        "EXIT_BROKEN_PIPE": 141,
    }

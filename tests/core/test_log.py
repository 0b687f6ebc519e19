"""The loggers of the library: silent, without secrets, with tracebacks."""

import logging
import subprocess
import sys

import pytest

from tejat.core.log import (
    agent_logger,
    logger,
    masked_secrets,
    mcp_logger,
    model_logger,
    report_unexpected,
    tools_logger,
)

TOKEN = "xoxb-1234567890-abcdefghij"


def fail(text: str) -> Exception:
    try:
        raise KeyError(text)
    except KeyError as error:
        return error


def test_all_loggers_are_below_one() -> None:
    loggers = (agent_logger, tools_logger, model_logger, mcp_logger)
    assert [each.name for each in loggers] == ["tejat.agent", "tejat.tools", "tejat.model", "tejat.mcp"]
    assert all(each.parent is logging.getLogger(logger.name) for each in loggers)


def test_nothing_is_printed_unless_the_program_wants_it() -> None:
    work = "from tejat.core.log import tools_logger, report_unexpected; "
    work += "tools_logger.error('loud'); print(report_unexpected(KeyError('loud'), 'a test'))"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("Internal error: KeyError.\n", "")


def test_what_nobody_got_is_logged_later() -> None:
    work = "import logging; from tejat.core.log import report_unexpected; error = KeyError('x'); "
    work += "report_unexpected(error, 'one'); logging.basicConfig(); "
    work += "report_unexpected(error, 'two'); report_unexpected(error, 'three')"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "ERROR:tejat:Unexpected exception in two\nKeyError: 'x'\n"


def test_handlers_get_masked_records(caplog: pytest.LogCaptureFixture) -> None:
    with masked_secrets(lambda text: text.replace("hunter2", "[password]")):
        tools_logger.warning("Called with %s and %s", TOKEN, "hunter2")
    tools_logger.warning("%s", "hunter2")
    assert [record.getMessage() for record in caplog.records] == ["Called with *** and [password]", "hunter2"]


def test_an_unexpected_exception_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    error = fail(f"no {TOKEN}")
    for _ in range(2):
        assert report_unexpected(error, "a tool", log=tools_logger) == "Internal error: KeyError."
    (record,) = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == (
        "tejat.tools",
        logging.ERROR,
        "Unexpected exception in a tool",
    )
    assert record.exc_info is not None
    assert record.exc_info[1] is error
    shown = logging.Formatter().format(record)
    assert "in fail\n" in shown
    assert "KeyError: 'no ***'" in shown
    assert TOKEN not in shown

"""`tejat -p PROMPT --detach`: a session in the background, which waits for answers of whoever attaches."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from tejat.app.diagnostics.log_file import open_log
from tejat.app.run_config import RunConfig, find_secrets, load_agent_config
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.cli.args import RunOptions, to_agent_options
from tejat.cli.messages import print_error
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import TejatError, UsageError
from tejat.core.exit_codes import EXIT_FAILED, EXIT_INPUT, EXIT_OK
from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.core.log import report_unexpected
from tejat.ui.headless.runner import read_prompt
from tejat.ui.headless.standard_streams import StandardStreams
from tejat.ui.remote.session_socket import SessionSocket, wants_socket
from tejat.ui.shared.exit_status import classify_error

_LONGEST_REPORT = 1 << 20


def run_detached(options: RunOptions) -> int:
    """Start the session in a process of its own, print its id and return the exit code."""
    prompt = read_prompt(options.prompt, StandardStreams())
    if not prompt.strip():
        print_error(_("--detach needs a prompt. Use -p TEXT, or pipe it in."))
        return EXIT_INPUT
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() == 0:
        os.close(reader)
        _run_child(options, prompt, writer)
    os.close(writer)
    with open(reader, "rb") as report:
        found = report.read(_LONGEST_REPORT)
    return _report(found, options)


def _report(found: bytes, options: RunOptions) -> int:
    """Print how the start went, and return the exit code."""
    try:
        started = json.loads(found)
    except ValueError:
        print_error(_("The session could not start. Run `tejat doctor` to find out why."))
        return EXIT_FAILED
    if "error" in started:
        print_error(started["error"])
        return int(started["code"])
    session_id = str(started["session_id"])
    if options.output_format in ("json", "stream-json"):
        print(dump_json({"session_id": session_id}))
        return EXIT_OK
    print(session_id)
    command = f"tejat attach {session_id}"
    print(_("The session runs in the background. Open it with: {command}", command=command), file=sys.stderr)
    return EXIT_OK


def _run_child(options: RunOptions, prompt: str, writer: int) -> NoReturn:
    """Run the session, and tell the parent through `writer` how the start went. Ends the process."""
    code = EXIT_FAILED
    try:
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        code = _run(options, prompt, writer)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- there is nobody else to tell
        is_known = isinstance(error, TejatError)
        message = str(error) if is_known else report_unexpected(error, "a detached session")
        code = classify_error(error)[1] if isinstance(error, TejatError) else EXIT_FAILED
        _send_report(writer, {"error": message, "code": code})
    finally:
        os._exit(code)


def _run(options: RunOptions, prompt: str, writer: int) -> int:
    """Raises TejatError."""
    agent_options = to_agent_options(options)
    run_config = load_agent_config(agent_options)
    setting = run_config.settings.session_server.value
    if not wants_socket(options.session_server, setting=setting, is_replay=options.replay is not None):
        raise UsageError(
            _("--detach needs the session server. Remove --no-session-server, or set sessions.server to true.")
        )
    with open_log(run_config.paths, find_secrets(os.environ)):
        asyncio.run(_serve(agent_options, run_config, prompt, writer))
    return EXIT_OK


async def _serve(options: AgentOptions, run_config: RunConfig, prompt: str, writer: int) -> None:
    """Answer the prompt, and go on while front ends use the session. Raises TejatError."""
    async with open_interactive_session(options, run_config=run_config) as session:
        stop = asyncio.Event()
        socket = SessionSocket(
            session.events, lambda: session, run_config.paths.runtime, kind="detached", on_stop=stop.set
        )
        try:
            await socket.open()
        except OSError as error:
            raise UsageError(
                _("Could not open the socket of the session: {reason}.", reason=error.strerror or error)
            ) from error
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        _send_report(writer, {"session_id": session.status.session_id})
        try:
            await _run_until_unused(session, socket, prompt, stop)
        finally:
            await socket.close()


async def _run_until_unused(
    session: InteractiveSession, socket: SessionSocket, prompt: str, stop: asyncio.Event
) -> None:
    run = asyncio.create_task(session.prompt(prompt))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((run, stopping), return_when=asyncio.FIRST_COMPLETED)
        server = socket.server
        while server is not None and server.is_used and not stop.is_set():
            changed = asyncio.Event()
            server.on_change = changed.set
            changing = asyncio.create_task(changed.wait())
            await asyncio.wait((changing, stopping), return_when=asyncio.FIRST_COMPLETED)
            changing.cancel()
    finally:
        stopping.cancel()
        run.cancel()
        await asyncio.wait((run,))


def _send_report(writer: int, report: dict[str, object]) -> None:
    """Send the report to the parent, once."""
    with suppress(OSError), open(writer, "wb") as pipe:
        pipe.write(json.dumps(report).encode())

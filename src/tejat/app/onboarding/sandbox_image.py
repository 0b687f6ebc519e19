"""The onboarding step that asks whether to fetch the image of a container sandbox."""

import asyncio
import os
import shlex
from collections.abc import Mapping

from tejat.app.onboarding.trust import StartupExit
from tejat.core.errors import SandboxUnavailable
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.workspace.sandbox.container.engine import last_line
from tejat.workspace.sandbox.container.options import client_environment, with_proxies


async def offer_image_pull(
    refused: SandboxUnavailable, user: UserPrompter, environment: Mapping[str, str] | None
) -> StartupExit | None:
    """Ask whether to fetch the missing image and do it; None if it is there now.

    Raises the refusal if there is nothing to fetch, and SandboxUnavailable if it cannot be fetched.
    """
    if not refused.pull_command:
        raise refused
    command = shlex.join(refused.pull_command)
    question = Choice(
        _("Fetch the sandbox image?"),
        (Option(_("Yes, run: {command}", command=command)), Option(_("No, quit"))),
        initial=1,
        report=text_report(str(refused)),
        is_critical=True,
    )
    if await user.choose(question) != 0:
        return StartupExit.QUIT
    user.show(text_report(_("Running {command} ...", command=command), Tone.QUIET))
    known = os.environ if environment is None else environment
    process = await asyncio.create_subprocess_exec(
        *refused.pull_command,
        env=with_proxies(dict(client_environment(known)), known),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _output, errors = await process.communicate()
    if process.returncode != 0:
        answer = last_line(errors)
        raise SandboxUnavailable(_("Could not fetch the image. {command}: {answer}", command=command, answer=answer))
    return None

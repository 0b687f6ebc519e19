"""Sessions in which a model changes files."""

from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script


def write_script(name: str, content: str) -> str:
    """A turn in which the model writes a file."""
    call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
    return script_answer(say=f"I write {name}.", calls=[call]) + text_script(f"Wrote {name}.")


THREE_WRITES = write_script("a.txt", "1") + write_script("a.txt", "2") + write_script("b.txt", "3")


async def send_prompts(runner: InteractiveRunner) -> None:
    """Run all of THREE_WRITES."""
    for prompt in ("one", "two", "three"):
        await runner.prompt(prompt)


async def call_ids(runner: InteractiveRunner) -> list[str]:
    """Those of all calls, the newest first."""
    return [line.split()[0] for line in (await runner.command_output("/undo list")).splitlines()[2:-1]]


def read_files(env: InteractiveEnv) -> dict[str, str]:
    """The files of the project."""
    return {path.name: path.read_text() for path in sorted(env.project.iterdir())}

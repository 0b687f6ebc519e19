"""Everything that a usual run imports is loaded by the template process."""

import json
import subprocess
import sys

from support.batch_jobs import JobCase, calling, saying, shell, writing
from tejat.batch.job import job_to_json
from tejat.batch.runner.preload import PRELOADED

ANSWERS = (
    writing("b.txt", "two\nthree\n"),
    calling("read_file", file_path="${root}/b.txt"),
    calling("replace", file_path="${root}/b.txt", old_string="two", new_string="four"),
    calling("glob", pattern="**/*.txt"),
    calling("search_file_content", pattern="four"),
    calling("list_directory", path="${root}"),
    calling("write_todos", todos=[{"description": "a", "status": "pending"}]),
    shell("git status --short | cat && exit 3"),
    saying(),
)
PROGRAM = """
import json, os, socket, sys, sysconfig, threading
import tejat.batch.runner.template
from tejat.batch.job import job_from_json
from tejat.batch.runner.agent_child import run_agent
from tejat.batch.runner.child_request import ChildRequest, ChildWork
from tejat.batch.runner.preload import PRELOADED
from tejat.core.text.digest import sha256
for name in PRELOADED:
    __import__(name)
sysconfig.get_config_vars()
sha256()
before = set(sys.modules)
descriptors = len(os.listdir("/proc/self/fd"))
threads = threading.active_count(), len(os.listdir("/proc/self/task"))
job = job_from_json(json.loads(sys.argv[1]))
channel, other = socket.socketpair()
code = run_agent(ChildRequest(ChildWork.RUN, job, "/"), channel)
added = sorted(set(sys.modules) - before)
print(json.dumps({"code": code, "added": added, "descriptors": descriptors, "threads": threads}), file=sys.stderr)
"""


def test_a_run_imports_nothing_more(case: JobCase) -> None:
    case.run(case.job(saying(), keeps_tree=True))
    job = case.job(*ANSWERS)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(job_to_json(job))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stderr.splitlines()[-1])
    assert (found["code"], found["added"]) == (0, [])
    # A fork would copy the locks of other threads, and descriptors that nobody closes.
    assert found["threads"] == [1, 1]
    assert found["descriptors"] == 4  # the standard ones, and that of the listing itself


def test_the_services_are_there() -> None:
    assert {f"tejat.models.{name}.client" for name in ("anthropic", "gemini", "openai")} < set(PRELOADED)
    assert len(set(PRELOADED)) == len(PRELOADED)

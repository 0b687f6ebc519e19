"""What the conformance suite starts as a client: hands the errand to the process that tests, and ends as told.

Its arguments are a socket of that process and the address of a server. It needs nothing, so that it starts quickly.
"""

import json
import os
import socket
import sys


def main() -> int:
    path, address = sys.argv[1:]
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        errand = {"scenario": scenario, "context": context, "address": address}
        connection.sendall(json.dumps(errand).encode() + b"\n")
        with connection.makefile() as answer:
            failure = answer.read()
    sys.stderr.write(failure)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())

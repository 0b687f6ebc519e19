"""The wire protocol. The names of operations are fixed: clients of version 1 send them."""

import json

from rowstore import reader

OPERATIONS = {
    "fetch_rows": lambda request: reader.fetch_rows(reader.open_table(request["table"]), request.get("limit")),
    "prefetch_rows": lambda request: reader.prefetch_rows(reader.open_table(request["table"])),
}


def answer(line):
    """Answer a request, which is a line of JSON."""
    request = json.loads(line)
    operation = OPERATIONS.get(request["op"])
    if operation is None:
        return json.dumps({"error": f"unknown operation {request['op']}"})
    return json.dumps({"result": operation(request)})

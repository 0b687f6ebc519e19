"""An editor for tests: a program with buffers that answers `fs/*` requests over its standard input and output.

It also takes requests of the test: `test/type`, `test/save`, `test/close`, `test/set`, `test/log`.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

NOT_FOUND = -32002
INTERNAL_ERROR = -32603


class Buffer:
    """A file in the editor. `text` is what the user sees."""

    def __init__(self, path: Path, *, shows_carriage_returns: bool) -> None:
        self.path = path
        self.shows_carriage_returns = shows_carriage_returns
        self.load()

    def load(self) -> None:
        raw = self.path.read_bytes() if self.path.exists() else b""
        self.loaded = raw
        self.bom = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
        body = raw.removeprefix(self.bom)
        try:
            text = body.decode("utf-8")
            self.codec = "utf-8"
        except UnicodeDecodeError:
            text = body.decode("latin-1")
            self.codec = "latin-1"
        self.line_ending = "\r\n" if "\r\n" in text and not self.shows_carriage_returns else "\n"
        self.text = self.saved = text if self.shows_carriage_returns else text.replace("\r\n", "\n")

    @property
    def is_dirty(self) -> bool:
        return self.text != self.saved

    def save(self) -> None:
        text = self.text if self.line_ending == "\n" else self.text.replace("\n", self.line_ending)
        self.loaded = self.bom + text.encode(self.codec)
        self.path.write_bytes(self.loaded)
        self.saved = self.text


class Editor:
    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}
        self.log: list[dict[str, Any]] = []
        self.to_save: list[Buffer] = []
        self.options: dict[str, Any] = {
            "shows_carriage_returns": False,
            "drops_last_newline": False,
            "missing": "error",  # or: empty
            "reloads": True,
            "saves": True,
            "formats": "",  # or: strip, double
            "naive": False,  # no buffers, text mode
            "read": "",  # or: error, garbage, surrogate, empty, silent, exit
            "write": "",  # or: error, silent, exit, ignore, late (saves only after the answer)
            "delay": 0.0,
        }

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        if method.startswith("fs/"):
            self.log.append({"method": method, **params})
            time.sleep(self.options["delay"])
        match method:
            case "fs/read_text_file":
                return self.read(params["path"])
            case "fs/write_text_file":
                return self.write(params["path"], params["content"])
            case "test/type":
                self.open(params["path"]).text = params["text"]
            case "test/save":
                self.open(params["path"]).save()
            case "test/close":
                del self.buffers[params["path"]]
            case "test/set":
                self.options |= params
            case "test/text":
                return {"text": self.open(params["path"]).text}
            case "test/log":
                return {"requests": self.log}
            case "$/cancel_request":
                self.log.append({"method": method})
            case _:
                raise LookupError(method)
        return {}

    def open(self, path: str) -> Buffer:
        if path not in self.buffers:
            shows = self.options["shows_carriage_returns"]
            self.buffers[path] = Buffer(Path(path), shows_carriage_returns=shows)
        buffer = self.buffers[path]
        on_disk = buffer.path.read_bytes() if buffer.path.exists() else b""
        if self.options["reloads"] and not buffer.is_dirty and on_disk != buffer.loaded:
            buffer.load()
        return buffer

    def read(self, path: str) -> Any:
        match self.options["read"]:
            case "error":
                raise ValueError("outside the project")
            case "garbage":
                return {"content": ["no", "text"]}
            case "surrogate":
                return {"content": "a\ud800b"}
            case "empty":
                return {"content": ""}
            case "silent":
                return None
            case "exit":
                os._exit(3)
        if self.options["naive"]:
            return {"content": Path(path).read_text(encoding="utf-8")}
        if path not in self.buffers and not os.path.exists(path):
            if self.options["missing"] == "empty":
                return {"content": ""}
            raise FileNotFoundError(path)
        text = self.open(path).text
        return {"content": text.removesuffix("\n") if self.options["drops_last_newline"] else text}

    def write(self, path: str, text: str) -> Any:
        match self.options["write"]:
            case "error":
                raise ValueError("the user\nsaid no")
            case "silent":
                return None
            case "exit":
                os._exit(3)
            case "ignore":
                return {}
        if self.options["naive"]:
            Path(path).write_text(text, encoding="utf-8")
            return {}
        buffer = self.open(path)
        buffer.text = f"{text}\n" if self.options["drops_last_newline"] else text
        match self.options["formats"]:
            case "strip":
                buffer.text = "\n".join(line.rstrip() for line in buffer.text.split("\n"))
            case "double":
                buffer.text += buffer.text
        if self.options["write"] == "late":
            self.to_save.append(buffer)
        elif self.options["saves"]:
            buffer.save()
        return {}

    def save_late(self) -> None:
        while self.to_save:
            time.sleep(0.2)
            self.to_save.pop().save()


def main() -> None:
    editor = Editor()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        try:
            result = editor.answer(message["method"], message.get("params") or {})
        except FileNotFoundError as error:
            send(message, error={"code": NOT_FOUND, "message": f"Resource not found: {error}"})
        except Exception as error:  # noqa: BLE001 -- every request is answered
            send(message, error={"code": INTERNAL_ERROR, "message": str(error)})
        else:
            if result is not None:
                send(message, result=result)
        editor.save_late()


def send(request: dict[str, Any], **answer: Any) -> None:
    if "id" not in request:
        return
    line = json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer})
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

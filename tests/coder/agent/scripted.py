"""A model that follows a script, behind a real HTTP server in the manner of the OpenAI API; and a program to drive."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.coder.cli.harness import Outcomes, Program

Answer = dict[str, Any]


def call(tool: str, **arguments: Any) -> Answer:
    """An answer that calls one tool."""
    return calls((tool, arguments))


def calls(*wanted: tuple[str, dict[str, Any]]) -> Answer:
    return {"calls": [(name, json.dumps(arguments)) for name, arguments in wanted]}


def finish(summary: str = "done", **more: Any) -> Answer:
    return call("finish", summary=summary, **more)


def say(text: str = "", thinking: str = "") -> Answer:
    return {"text": text, "thinking": thinking, "calls": []}


def malformed(tool: str, arguments: str) -> Answer:
    return {"calls": [(tool, arguments)]}


def broken(message: str) -> Answer:
    """What a server says that fails in the middle of an answer."""
    return {"error": {"message": message}}


class Server:
    """Gives the answers of `script` one by one; an answer may be a function of the messages so far. `seen` holds the
    messages of each request."""

    def __init__(self) -> None:
        self.script: list[Answer | Callable[[list[dict[str, Any]]], Answer]] = []
        self.seen: list[list[dict[str, Any]]] = []
        self.url = ""

    def results(self) -> list[str]:
        """What the tools said, as the model was told last."""
        return [turn["content"] for turn in self.seen[-1] if turn["role"] == "tool"]

    def _answer(self, messages: list[dict[str, Any]]) -> bytes:
        self.seen.append(messages)
        if not self.script:
            return _stream(say("the script is over"))
        answer = self.script.pop(0)
        return _stream(answer(messages) if callable(answer) else answer)


def _stream(answer: Answer) -> bytes:
    if "error" in answer:
        return f"data: {json.dumps(answer)}\n\n".encode()
    deltas: list[dict[str, Any]] = []
    if answer.get("thinking"):
        deltas.append({"reasoning_content": answer["thinking"]})
    if answer.get("text"):
        deltas.append({"content": answer["text"]})
    for index, (name, arguments) in enumerate(answer["calls"]):
        function = {"name": name, "arguments": arguments}
        deltas.append({"tool_calls": [{"index": index, "id": f"c{index}", "function": function}]})
    pieces: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    pieces.append({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 10}})
    return "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces).encode() + b"data: [DONE]\n\n"


@contextmanager
def serve() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = server._answer(body["messages"])
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


class Tasks(Program):
    """`coder do` in a project of its own, asking the scripted server."""

    def __init__(self, home: Path, project: Path, server: Server) -> None:
        super().__init__(home, project)
        self.server = server

    def do(self, request: str, *options: str, script: list[Any], answers: str | None = None) -> Outcomes:
        self.server.script = list(script)
        return self("do", request, *self.named, *options, answers=answers)

    @property
    def named(self) -> tuple[str, ...]:
        return "--endpoint", self.server.url, "--model", "scripted"

    def tree(self) -> dict[str, bytes]:
        """The project's files."""
        found = sorted(path for path in self.project.rglob("*") if path.is_file() or path.is_symlink())
        return {
            path.relative_to(self.project).as_posix(): b"-> " + str(path.readlink()).encode()
            if path.is_symlink()
            else path.read_bytes()
            for path in found
        }

    def log(self) -> str:
        """The raw log of the latest task."""
        return max((self.home / "state" / "tasks").iterdir()).joinpath("log.jsonl").read_text()

"""The two servers that a typing trace is played to: `coder lsp`, and a llama.cpp server behind a bare client."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.typing_trace import Insert


class Coder:
    """`coder lsp` behind pygls' client."""

    def __init__(self, root: Path) -> None:
        self.client = LanguageClient("typist", "1")
        self.root = root
        self.log: list[str] = []
        self.read, self.ready = asyncio.Event(), asyncio.Event()
        self._versions: dict[str, int] = {}

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.log.append(params.message)
            if "is ready" in params.message:
                self.ready.set()
            if params.message.startswith("read "):
                self.read.set()

        @self.client.feature("coder/status")
        def status(params: Any) -> None:
            pass

    async def start(self, *command: str) -> None:
        await self.client.start_io(*command)
        folders = [types.WorkspaceFolder(self.root.as_uri(), "project")]
        await self.client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(), workspace_folders=folders)
        )
        self.client.initialized(types.InitializedParams())
        await self.ready.wait()

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def phase(self) -> str:
        return "after reading" if self.read.is_set() else "while reading"

    def open(self, name: str, text: str) -> None:
        uri = (self.root / name).as_uri()
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def insert(self, step: Insert) -> None:
        uri = (self.root / step.name).as_uri()
        self._versions[uri] += 1
        place = types.Position(step.line, step.column)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), step.text)
        identifier = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def cancel(self) -> None:
        for key, future in list(self.client.protocol._request_futures.items()):
            if not future.done():
                self.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(key))

    async def ask(self, name: str, line: int, column: int) -> tuple[str, str]:
        params = types.InlineCompletionParams(
            types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
            types.TextDocumentIdentifier((self.root / name).as_uri()),
            types.Position(line, column),
        )
        heard = len(self.log)
        answer = await self.client.text_document_inline_completion_async(params)
        logged = [entry for entry in self.log[heard:] if entry.startswith("completion ")]
        outcome = logged[-1].split()[1].rstrip(",") if logged else "unknown"
        return (answer.items[0].insert_text if answer and answer.items else ""), outcome


@dataclass
class LlamaCpp:
    """A llama.cpp server on the same weights, asked with the same prompts (so the same budget of context), up to the
    end of the line. What it has read it keeps by itself, as far as the next prompt begins alike."""

    python: Path
    gguf: Path
    tokens: int = 64
    port: int = 8411
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _asking: asyncio.Task[Any] | None = None

    async def start(self, threads: int) -> None:
        options = {"model": self.gguf, "n_ctx": 2048, "n_threads": threads, "n_threads_batch": threads,
                   "port": self.port, "verbose": False}  # fmt: skip
        command = [str(self.python), "-m", "llama_cpp.server"]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=60, trust_env=False)
        for _ in range(300):
            try:
                await self._client.get("/v1/models")
                return
            except httpx.HTTPError:
                await asyncio.sleep(0.1)
        raise RuntimeError("the llama.cpp server did not start")

    async def stop(self) -> None:
        await self._client.aclose()
        self._process.terminate()
        self._process.wait(20)

    def phase(self) -> str:
        return "llama.cpp"

    def open(self, name: str, text: str) -> None:
        self._texts[name] = text.split("\n")

    def insert(self, step: Insert) -> None:
        lines = self._texts[step.name]
        old = lines[step.line]
        lines[step.line : step.line + 1] = (old[: step.column] + step.text + old[step.column :]).split("\n")

    def cancel(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    async def ask(self, name: str, line: int, column: int) -> tuple[str, str]:
        from coder.completion.prompt import prompt_of
        from coder.completion.situation import Situation

        lines = [one + "\n" for one in self._texts[name]]
        before = "".join(lines[:line]) + lines[line][:column]
        situation = Situation(name, name, "python", before, "", name)
        body = {
            "prompt": prompt_of(situation, lines, line).text,
            "max_tokens": self.tokens,
            "temperature": 0,
            "stop": ["\n"],
        }
        self._asking = asyncio.ensure_future(self._client.post("/v1/completions", json=body))
        answer = await self._asking
        answer.raise_for_status()
        return answer.json()["choices"][0]["text"], "miss"

"""The tools at work: each call checked, made on the workspace, and its result put into words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from coder.agent import globs, tools
from coder.agent.approvals import Answer, Request
from coder.agent.observation import Observation, Standing
from coder.agent.schema import Unfit, build, schema_of
from coder.agent.workspace import Ran, Workspace
from coder.failure import Failure
from coder.patch import Document, Edit, Span, decode, edited, sha256
from coder.repository.gate import Refused
from coder.repository.secrets import MARK

if TYPE_CHECKING:
    from model.chat import Tool, ToolCall

_LINES = 400
_MATCHES = 100
_ENTRIES = 400
_WIDEST = 500
_AROUND = 3
_EXTERNAL_S = 120.0

Tester = Callable[[Sequence[str]], Observation]


class External(Protocol):
    """A tool that others offer. `request` is what has to be approved before `call`."""

    @property
    def tool(self) -> Tool: ...

    def request(self, arguments: Mapping[str, Any]) -> Request | None: ...

    def call(self, arguments: Mapping[str, Any], seconds: float) -> Observation: ...


@dataclass(frozen=True)
class Command:
    """A command that was run, or refused; `outcome` is its exit status or how else it ended."""

    argv: tuple[str, ...]
    outcome: str
    seconds: float


class Toolbox:
    """Makes calls. What a call does wrong, or what cannot be done for it, is an observation, never an exception; only
    JailBroken is raised."""

    def __init__(
        self,
        workspace: Workspace,
        approve: Callable[[Request], Answer],
        test: Tester,
        left_s: Callable[[], float],
        externals: Sequence[External] = (),
    ) -> None:
        self.workspace, self._approve, self._test, self._left_s = workspace, approve, test, left_s
        self._externals = {external.tool.name: external for external in externals}
        self._known: dict[str, str] = {}  # path -> hash of the version that the model has seen or written
        self.commands: list[Command] = []

    def offered(self) -> list[Tool]:
        """All tools as a model is told of them: our own, and those of MCP servers."""
        from model.chat import Tool

        own = [
            Tool(name, " ".join((kind.__doc__ or "").split()), schema_of(kind)) for name, kind in tools.TOOLS.items()
        ]
        return own + [external.tool for external in self._externals.values()]

    def __call__(self, call: ToolCall) -> Observation:
        try:
            if call.name in self._externals:
                return self._external(self._externals[call.name], call.arguments)
            if call.name not in tools.TOOLS:
                return _refused(f"there is no tool called {call.name!r}")
            return self._make(build(tools.TOOLS[call.name], call.arguments))
        except Unfit as wrong:
            return _refused(f"the arguments do not fit: {wrong}")
        except Refused as refused:
            return _refused(refused.message)
        except FileNotFoundError:
            return Observation(Standing.FAILED, f"there is no file {call.arguments.get('path', '')!r}")
        except (UnicodeError, SyntaxError) as error:
            return Observation(Standing.FAILED, f"not text in an encoding that is known: {error}")
        except OSError as error:
            return Observation(Standing.FAILED, f"{error.strerror or error}: {call.arguments.get('path', '')!r}")
        except Failure as failure:
            return Observation(Standing.FAILED, failure.message)
        except ValueError as error:
            return Observation(Standing.FAILED, f"that cannot be done: {error}")

    def _make(self, arguments: Any) -> Observation:
        match arguments:
            case tools.Read():
                return self._read(arguments)
            case tools.Search():
                return self._search(arguments)
            case tools.List():
                return self._list(arguments.folder)
            case tools.Edit():
                return self._edit(arguments)
            case tools.Replace():
                return self._replace(arguments)
            case tools.Write():
                return self._write(arguments.path, arguments.text)
            case tools.Run():
                return self._run(arguments)
            case tools.Test():
                return self._test(arguments.nodes)
        return Observation(Standing.DONE, arguments.summary)

    # -- looking -------------------------------------------------------------------------------------------------------

    def _read(self, wanted: tools.Read) -> Observation:
        data = self.workspace.read(wanted.path).data
        if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return Observation(Standing.FAILED, f"{wanted.path} is a binary file of {len(data):,} bytes")
        lines = _lines(decode(data).text)
        self._known[wanted.path] = sha256(data)
        first = max(wanted.first, 1)
        last = min(wanted.last or len(lines), len(lines), first + _LINES - 1)
        rest = f"\n({len(lines)} lines in all)" if last < len(lines) else ""
        return Observation(Standing.DONE, _numbered(lines, first, last) + rest, f"lines {first}-{last} of {len(lines)}")

    def _search(self, wanted: tools.Search) -> Observation:
        if not wanted.text:
            return _refused("nothing to look for")
        found: list[str] = []
        for path in self.workspace.files():
            if not globs.names(wanted.files, path):
                continue
            data = self.workspace.read(path).data
            if wanted.text.encode() not in data:
                continue
            for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
                if wanted.text in line:
                    found.append(f"{path}:{number}: {line.strip()[:_WIDEST]}")
        rest = [f"({len(found) - _MATCHES} more)"] if len(found) > _MATCHES else []
        return Observation(Standing.DONE, "\n".join(found[:_MATCHES] + rest) or "nothing found", f"{len(found)} lines")

    def _list(self, folder: str) -> Observation:
        folder = folder.rstrip("/").removeprefix("./").removesuffix(".")
        names = list(self.workspace.files(folder))
        if folder and not names:
            return Observation(Standing.FAILED, f"there is no folder {folder!r} with files in it")
        rest = [f"({len(names) - _ENTRIES} more)"] if len(names) > _ENTRIES else []
        return Observation(Standing.DONE, "\n".join(names[:_ENTRIES] + rest) or "no files", f"{len(names)} files")

    # -- changing ------------------------------------------------------------------------------------------------------

    def _edit(self, wanted: tools.Edit) -> Observation:
        document = self._document(wanted.path)
        if isinstance(document, Observation):
            return document
        lines = _lines(document.text)
        if not 1 <= wanted.first <= len(lines) + 1 or not wanted.first - 1 <= wanted.last <= len(lines):
            return _refused(f"{wanted.path} has {len(lines)} lines, not {wanted.first} to {wanted.last}")
        start, end = sum(map(len, lines[: wanted.first - 1])), sum(map(len, lines[: wanted.last]))
        text = wanted.text
        if text and not text.endswith("\n") and (wanted.last < len(lines) or document.text.endswith("\n")):
            text += "\n"
        if start and text and not document.text[:start].endswith("\n"):
            text = "\n" + text
        return self._put(wanted.path, document, Span(wanted.path, start, end), text)

    def _replace(self, wanted: tools.Replace) -> Observation:
        document = self._document(wanted.path)
        if isinstance(document, Observation):
            return document
        old = wanted.old.replace("\r\n", "\n").replace("\n", document.newline)
        count = document.text.count(old) if old else 0
        if count != 1:
            return Observation(Standing.FAILED, f"`old` stands {count} times in {wanted.path}, not once")
        at = document.text.index(old)
        return self._put(wanted.path, document, Span(wanted.path, at, at + len(old)), wanted.new)

    def _write(self, path: str, text: str) -> Observation:
        if MARK in text:
            return _refused(f"{MARK} stands for a secret that you were not shown; leave such lines alone")
        try:
            data = self.workspace.read(path).data
        except FileNotFoundError:
            data = b""
        else:
            if self._known.get(path) != sha256(data):
                return _refused(f"{path} is there already, and you have not read it as it is now")
            document = decode(data)
            text = text.replace("\r\n", "\n").replace("\n", document.newline)
            return self._store(path, document.encode(text))
        return self._store(path, text.encode())

    def _document(self, path: str) -> Document | Observation:
        data = self.workspace.read(path).data
        if self._known.get(path) != sha256(data):
            return _refused(f"read {path} first: you have not seen it as it is now")
        return decode(data)

    def _put(self, path: str, document: Document, span: Span, text: str) -> Observation:
        if MARK in text:
            return _refused(f"{MARK} stands for a secret that you were not shown; leave such lines alone")
        new = edited(document, [Edit(span, text)])
        if new == document.text:
            return Observation(Standing.FAILED, "that changes nothing")
        first = document.text.count("\n", 0, span.start) + 1
        stored = self._store(path, document.encode(new))
        lines = _lines(new)
        around = _numbered(lines, max(first - _AROUND, 1), min(first + text.count("\n") + _AROUND, len(lines)))
        return Observation(stored.standing, f"{path} is now:\n{around}", stored.note)

    def _store(self, path: str, data: bytes) -> Observation:
        self.workspace.write(path, data)
        self._known[path] = sha256(data)
        return Observation(Standing.DONE, f"{path} is written ({len(data):,} bytes)", f"{len(data):,} bytes")

    # -- running -------------------------------------------------------------------------------------------------------

    def _run(self, wanted: tools.Run) -> Observation:
        argv = tuple(wanted.argv)
        if not argv or not argv[0] or any("\0" in word for word in argv):
            return _refused("argv names no program")
        answer = self._approve(Request("run", " ".join(map(_quoted, argv)), argv))
        if not answer.allowed:
            self.commands.append(Command(argv, "denied", 0.0))
            return _refused(f"the user does not allow it{f': {answer.reason}' if answer.reason else ''}")
        ran = self.workspace.run(argv, min(max(wanted.seconds, 1), max(self._left_s(), 1.0)))
        outcome = _outcome(ran)
        self.commands.append(Command(argv, outcome, round(ran.completed.seconds, 2)))
        good = ran.completed.returncode == 0
        return Observation(Standing.DONE if good else Standing.FAILED, _account(ran, outcome), outcome)

    def _external(self, external: External, arguments: Mapping[str, Any]) -> Observation:
        from model.schema import mismatch

        if wrong := mismatch(dict(arguments), external.tool.parameters):
            raise Unfit(wrong)
        request = external.request(arguments)
        if request is not None:
            answer = self._approve(request)
            if not answer.allowed:
                return _refused(f"the user does not allow it{f': {answer.reason}' if answer.reason else ''}")
        return external.call(arguments, min(max(self._left_s(), 1.0), _EXTERNAL_S))


def _refused(reason: str) -> Observation:
    return Observation(Standing.REFUSED, reason, reason)


def _outcome(ran: Ran) -> str:
    completed = ran.completed
    return f"exit status {completed.returncode}" if completed.returncode is not None else completed.ending.value


def _account(ran: Ran, outcome: str) -> str:
    pieces = [f"{outcome}, {ran.completed.seconds:.1f} s"]
    if ran.kept:
        names = ", ".join(ran.kept[:20]) + (f" and {len(ran.kept) - 20} more" if len(ran.kept) > 20 else "")
        pieces.append(f"changed: {names}")
    pieces += [f"not kept: {path} ({reason})" for path, reason in list(ran.refused.items())[:20]]
    for name, text in (("stdout", ran.completed.stdout), ("stderr", ran.completed.stderr)):
        if text:
            from coder.agent.observation import bounded

            pieces.append(f"{name}:\n{bounded(text, 6_000)}")
    return "\n".join(pieces)


def _lines(text: str) -> list[str]:
    """With their ends; only a line feed ends one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    shown = enumerate(lines[first - 1 : last], first)
    return "\n".join(f"{number}\t{line.rstrip()[:_WIDEST]}" for number, line in shown) or "(empty)"


def _quoted(word: str) -> str:
    return word if word and all(char.isalnum() or char in "-_./=:,+@%" for char in word) else json.dumps(word)

"""The OpenAI-compatible server around one local model.

A request holds the model while it is answered; others wait, without a thread of their own: there are forty, and the
one that is answered needs them. A client that goes away cancels its request.
"""

from __future__ import annotations

import hmac
import itertools
import json
import secrets
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Protocol, TypeVar

import anyio
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from coder.serve.answers import Answer, error, error_piece
from coder.serve.requests import BadRequest, ChatRequest, CompletionRequest, chat_request, completion_request
from model.chat import ChatError, ChatEvent, ChatOptions, Reply, whole

LARGEST_BODY = 16 << 20
_GONE = 499  # nobody reads it: the client went away

T = TypeVar("T")
Asked = TypeVar("Asked", ChatRequest, CompletionRequest)
Events = Generator[ChatEvent, None, None]


class Served(Protocol):
    """What the server needs of a model. Both raise ChatError."""

    def reply(self, messages: Any, tools: Any = ..., options: ChatOptions = ...) -> Events: ...

    def complete(self, prompt: str, suffix: str, options: ChatOptions) -> Events: ...


def build(model: Served, name: str, token: str = "") -> Starlette:
    """The application. With a `token`, every request must carry it as a bearer token."""
    api = _Api(model, name)
    routes = [
        Route("/v1/models", api.models),
        Route("/v1/models/{name:path}", api.model),
        Route("/v1/chat/completions", api.chat, methods=["POST"]),
        Route("/v1/completions", api.completion, methods=["POST"]),
        Route("/health", lambda request: JSONResponse({"status": "ok"})),
    ]
    handlers = {404: _not_found, 405: _not_found}
    return Starlette(routes=routes, middleware=[Middleware(_Gate, token=token)], exception_handlers=handlers)


class _Gate:
    """Who may come in: whoever has the token; and no web page that talks to a local server behind its user's back."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(dict(scope["headers"]))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, headers: dict[bytes, bytes]) -> Response | None:
        if b"origin" in headers:
            return JSONResponse(error("requests from web pages are not served", "permission_error"), 403)
        if not self._token:
            host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0].strip("[]")
            if host in ("localhost", "127.0.0.1", "::1"):
                return None
            # A foreign name that resolves to this machine is a page trying to pass as local.
            return JSONResponse(error("without a token only localhost is served", "permission_error"), 403)
        given = headers.get(b"authorization", b"").removeprefix(b"Bearer ")
        if hmac.compare_digest(given, self._token.encode()):
            return None
        return JSONResponse(error("a bearer token is required", "authentication_error"), 401)


class _Api:
    def __init__(self, model: Served, name: str) -> None:
        self._model = model
        self._name = name
        self._turn = anyio.Semaphore(1)  # those who wait for the model wait here, and take no thread
        self._entry = {"id": name, "object": "model", "created": int(time.time()), "owned_by": "coder"}

    async def models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self._entry]})

    async def model(self, request: Request) -> Response:
        if request.path_params["name"] != self._name:
            return JSONResponse(error(f"only {self._name} is served here", "invalid_request_error", "model"), 404)
        return JSONResponse(self._entry)

    async def chat(self, request: Request) -> Response:
        def ask(asked: ChatRequest) -> Events:
            return self._model.reply(asked.messages, asked.tools, asked.options)

        answer = Answer("chat.completion", self._name)
        return await _answered(request, chat_request, ask, answer.chat, answer.chat_pieces, self._turn)

    async def completion(self, request: Request) -> Response:
        def ask(asked: CompletionRequest) -> Events:
            return self._model.complete(asked.prompt, asked.suffix, asked.options)

        answer = Answer("text_completion", self._name)
        pieces = answer.completion_pieces
        return await _answered(request, completion_request, ask, answer.completion, pieces, self._turn)


async def _answered(
    request: Request,
    parse: Callable[[Any, int], Asked],
    ask: Callable[[Asked], Events],
    whole_answer: Callable[[Reply], dict[str, Any]],
    pieces: Callable[[Iterator[ChatEvent], bool], Iterator[str]],
    turn: anyio.Semaphore,
) -> Response:
    """Reads a request with `parse`, puts it to the model with `ask` when its `turn` has come, and answers at once or in
    pieces."""
    try:
        asked = parse(await _body(request), secrets.randbits(62))
    except BadRequest as wrong:
        return JSONResponse(error(str(wrong), "invalid_request_error", wrong.field), 400)
    events = ask(asked)
    if asked.stream:
        return await _stream(request, events, lambda some: pieces(some, asked.usage), asked.options.cancel, turn)
    return await _whole(request, events, whole_answer, asked.options.cancel, turn)


async def _body(request: Request) -> Any:
    """The JSON of a request. Raises BadRequest for one that is too large or none."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST_BODY:
            raise BadRequest(f"the body is larger than {LARGEST_BODY >> 20} MiB")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not valid JSON") from None


async def _attended(request: Request, work: Callable[[], Awaitable[T]], cancel: threading.Event) -> T | None:
    """What `work` comes to; None when the client went away meanwhile: then `cancel` is set for a thread that is at it,
    and work that still waits for its turn is dropped. Raises what `work` raises."""
    result: list[T] = []
    failure: list[Exception] = []

    async def run(scope: anyio.CancelScope) -> None:
        try:
            result.append(await work())
        except Exception as problem:
            failure.append(problem)
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, tasks.cancel_scope)
        try:
            while (await request.receive())["type"] != "http.disconnect":
                pass
        except anyio.get_cancelled_exc_class():
            if not result and not failure:  # ended from outside, as when the server stops: the thread must hear of it
                cancel.set()
            raise
        cancel.set()
        tasks.cancel_scope.cancel()
    if failure:
        raise failure[0]
    return result[0] if result and not cancel.is_set() else None


async def _whole(
    request: Request,
    events: Events,
    answer: Callable[[Reply], dict[str, Any]],
    cancel: threading.Event,
    turn: anyio.Semaphore,
) -> Response:
    async def work() -> Reply:
        async with turn:
            return await run_in_threadpool(partial(whole, events))

    try:
        reply = await _attended(request, work, cancel)
    except ChatError as wrong:
        return JSONResponse(error(str(wrong), "invalid_request_error"), 400)
    return JSONResponse(answer(reply)) if reply is not None else Response(status_code=_GONE)


async def _stream(
    request: Request,
    events: Events,
    pieces: Callable[[Iterator[ChatEvent]], Iterator[str]],
    cancel: threading.Event,
    turn: anyio.Semaphore,
) -> Response:
    """Streams pieces. A mistake that shows before the first event is an ordinary error with its status."""
    async with AsyncExitStack() as held:

        async def begin() -> ChatEvent:
            await held.enter_async_context(turn)
            held.callback(events.close)  # gives the model back
            return await run_in_threadpool(partial(next, events))

        try:
            first = await _attended(request, begin, cancel)
        except ChatError as wrong:
            return JSONResponse(error(str(wrong), "invalid_request_error"), 400)
        if first is None:
            return Response(status_code=_GONE)
        return _Pieces(pieces(itertools.chain((first,), events)), cancel, held.pop_all())


class _Pieces(StreamingResponse):
    """Server-sent events as they come. What is `held` meanwhile is given back however the answer ends, even where
    nobody was left to send the first piece to."""

    def __init__(self, pieces: Iterator[str], cancel: threading.Event, held: AsyncExitStack) -> None:
        super().__init__(_told(pieces), media_type="text/event-stream", headers={"cache-control": "no-cache"})
        self._cancel = cancel
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            try:
                await super().__call__(scope, receive, send)
            finally:
                self._cancel.set()

    async def listen_for_disconnect(self, receive: Receive) -> None:
        """Some pieces take long to write: the thread that is at one must hear of it."""
        await super().listen_for_disconnect(receive)
        self._cancel.set()


async def _told(pieces: Iterator[str]) -> AsyncIterator[str]:
    """The pieces, and what went wrong on the way as the last one."""
    try:
        async for piece in iterate_in_threadpool(pieces):
            yield piece
    except ChatError as wrong:
        yield error_piece(str(wrong))


async def _not_found(request: Request, problem: Exception) -> Response:
    message = f"{request.url.path} is not offered here; under /v1 there are chat/completions, completions and models"
    return JSONResponse(error(message, "invalid_request_error"), 404)
